//! One hop of one report, on its way into the statistics.

use inband_model::{Flow, Nanos, ReportReference};

use crate::report::HopReading;

/// One hop of one report, on its way into the statistics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'a> {
    pub(crate) now: Nanos,
    pub(crate) report: ReportReference,
    pub(crate) reading: &'a HopReading,
    /// Q, where it is about this hop.
    pub(crate) congested_queue: bool,
    /// The flow of the packet.
    pub(crate) flow: Option<&'a Flow>,
    /// Length of the packet from its IP header on, bytes; 0 where it is not known.
    pub(crate) packet_bytes: u32,
}

impl Sample<'_> {
    /// When the packet came and when it left, by the node's clock where that is told, else by ours.
    pub(super) fn residence(&self) -> (u64, u64) {
        let latency = self.reading.latency.map_or(0, |latency| latency.0);
        match self.reading.came_at() {
            Some(came_at) => (came_at, came_at.saturating_add(latency)),
            None => (self.now.0.saturating_sub(latency), self.now.0),
        }
    }
}
