//! One report on its way through correlation.

use std::net::SocketAddr;

use inband_model::{Nanos, ReportReference};

use crate::ledger::Arrival;
use crate::ports::{PortIndex, Sample};
use crate::report::{HopReading, Reading};
use crate::share::Share;

/// A report on its way through the correlator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sighting<'a> {
    pub(crate) now: Nanos,
    pub(crate) report: ReportReference,
    /// Where it came from, and where it was sent to.
    pub(crate) from: SocketAddr,
    pub(crate) session: SocketAddr,
    /// What the sequence number of its datagram was.
    pub(crate) arrival: Arrival,
    pub(crate) reading: &'a Reading,
    /// First hop first.
    pub(crate) hops: &'a [HopReading],
    /// The flows and nodes that are followed here.
    pub(crate) share: Share,
}

impl Sighting<'_> {
    /// Whether the node that sent the report is followed here.
    #[inline]
    pub(crate) fn has_reporter(&self) -> bool {
        self.share.has_node(self.report.node_id)
    }

    /// One of its hops, which left by `port`.
    #[inline]
    pub(crate) fn sample<'b>(&'b self, port: PortIndex, reading: &'b HopReading) -> Sample<'b> {
        // Q is about the queue of the reporting node.
        let is_reporter = reading.hop.node_id == self.report.node_id;
        Sample {
            now: self.now,
            report: self.report,
            port,
            queue: None,
            reading,
            congested_queue: self.reading.congested_queue && is_reporter,
            flow: self.reading.flow.as_ref(),
            packet_bytes: self.reading.packet_bytes,
        }
    }
}
