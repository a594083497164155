//! One report on its way through correlation.

use std::net::SocketAddr;

use inband_model::{Nanos, ReportReference};

use crate::ledger::Arrival;
use crate::report::{HopReading, Reading};
use crate::share::Share;

/// A report on its way through the correlator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sighting<'a> {
    pub(crate) now: Nanos,
    pub(crate) report: ReportReference,
    /// Its source address, and the address it was sent to.
    pub(crate) from: SocketAddr,
    pub(crate) session: SocketAddr,
    /// The classification of its datagram's sequence number.
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
}
