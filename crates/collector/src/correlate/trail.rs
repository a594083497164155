//! The hops of the current path.

use inband_model::{Hop, Nanos};

use crate::report::HopReading;

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

    pub(super) fn hops(&self) -> &[Hop] {
        &self.hops
    }

    pub(super) fn latencies(&self) -> &[Option<Nanos>] {
        &self.latencies
    }
}
