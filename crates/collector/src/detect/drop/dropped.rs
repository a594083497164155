//! One report of a drop.

use inband_model::{Flow, Nanos, ReportReference};

/// One report of a drop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dropped {
    pub(super) now: Nanos,
    pub(super) report: ReportReference,
    /// Number of packets the report covers.
    pub(super) packets: u64,
    pub(super) flow: Option<Flow>,
    /// TTL of the packet.
    pub(super) ttl: Option<u8>,
    /// Whether the queue it was to enter is congested.
    pub(super) is_congested: bool,
}
