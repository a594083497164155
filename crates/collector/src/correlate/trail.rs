//! Which hops make up the path at hand?

use inband_model::{Hop, Nanos};

use crate::report::HopReading;

/// The hops of a path that is being looked at, first hop first, with their latencies.
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

    /// Puts what a report says behind the hops that are there.
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
