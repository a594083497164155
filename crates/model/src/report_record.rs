//! The fields common to all hops of one report.

use crate::{Flow, HopRecord, Nanos, NodeId, Origin, ReportVersion};

/// The part of a [`HopRecord`] that is the same for all hops of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportRecord {
    /// When the report arrived here.
    pub received_at: Nanos,
    /// Sequence number of the datagram.
    pub sequence: u32,
    /// The reporting node.
    pub reporter: NodeId,
    /// Index of the report in the datagram, from 0.
    pub report_index: u16,
    /// HW ID: the part of the reporting node that numbers reports.
    pub hw_id: u8,
    /// Number of hops in the report.
    pub hop_count: u8,
    /// Version of the report's format.
    pub version: ReportVersion,
    /// The origin of the metadata.
    pub origin: Origin,
    /// D: a packet was dropped.
    pub dropped: bool,
    /// Q: the packet met a congested queue.
    pub congested_queue: bool,
    /// F: the packet belongs to a tracked flow.
    pub tracked_flow: bool,
    /// I: the report comes from a transit hop that removed the stack.
    pub intermediate: bool,
    /// Why the packet was dropped, by the code of the reporting node.
    pub drop_reason: Option<u8>,
    /// The flow of the reported packet.
    pub flow: Option<Flow>,
}

impl ReportRecord {
    /// The fields of a hop that belong to its report.
    #[must_use]
    #[inline]
    pub fn of(hop: &HopRecord) -> ReportRecord {
        ReportRecord {
            received_at: hop.received_at,
            sequence: hop.sequence,
            reporter: hop.reporter,
            report_index: hop.report_index,
            hw_id: hop.hw_id,
            hop_count: hop.hop_count,
            version: hop.version,
            origin: hop.origin,
            dropped: hop.dropped,
            congested_queue: hop.congested_queue,
            tracked_flow: hop.tracked_flow,
            intermediate: hop.intermediate,
            drop_reason: hop.drop_reason,
            flow: hop.flow,
        }
    }

    /// A hop of this report with only the report's fields set.
    #[must_use]
    #[inline]
    pub fn hop(&self) -> HopRecord {
        HopRecord {
            received_at: self.received_at,
            sequence: self.sequence,
            reporter: self.reporter,
            report_index: self.report_index,
            hw_id: self.hw_id,
            hop_count: self.hop_count,
            version: self.version,
            origin: self.origin,
            dropped: self.dropped,
            congested_queue: self.congested_queue,
            tracked_flow: self.tracked_flow,
            intermediate: self.intermediate,
            drop_reason: self.drop_reason,
            flow: self.flow,
            ..HopRecord::default()
        }
    }
}
