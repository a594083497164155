//! The hops of the current path.

use inband_model::{Hop, Nanos};

use crate::report::HopReading;

use super::likeness;

/// The hops of the path under examination, first hop first, with their latencies.
#[derive(Debug, Default)]
pub(super) struct Trail {
    hops: Vec<Hop>,
    latencies: Vec<Option<Nanos>>,
}

impl Trail {
    pub(super) fn clear(&mut self) {
        self.hops.clear();
        self.latencies.clear();
    }

    pub(super) fn push(&mut self, hop: Hop, latency: Option<Nanos>) {
        self.hops.push(hop);
        self.latencies.push(latency);
    }

    /// Appends the hops of a report.
    pub(super) fn extend(&mut self, readings: &[HopReading]) {
        for reading in readings {
            self.push(reading.hop, reading.latency);
        }
    }

    /// Makes hops with their latencies the current ones.
    pub(super) fn set(&mut self, hops: &[Hop], latencies: &[Option<Nanos>]) {
        self.clear();
        hops.iter().zip(latencies).for_each(|(hop, latency)| self.push(*hop, *latency));
    }

    /// Puts hops before the others.
    pub(super) fn put_before(&mut self, hops: &[Hop]) {
        self.hops.splice(0..0, hops.iter().copied());
        self.latencies.splice(0..0, hops.iter().map(|_| None));
    }

    /// Fills the unknown fields of the hops with those of a path that may be the same; returns whether it may
    /// be.
    pub(super) fn fill_from(&mut self, path: &[Hop]) -> bool {
        let may_be = likeness::may_be(&self.hops, path);
        if may_be {
            self.hops.iter_mut().zip(path).for_each(|(hop, known)| likeness::fill(hop, known));
        }
        may_be
    }

    pub(super) fn hops(&self) -> &[Hop] {
        &self.hops
    }

    pub(super) fn latencies(&self) -> &[Option<Nanos>] {
        &self.latencies
    }
}
