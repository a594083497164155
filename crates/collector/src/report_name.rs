//! The name of a datagram of reports.

use inband_model::{NodeId, ReportReference, ReportVersion};
use inband_wire::Strictness;
use inband_wire::report::{AnyReport, Leniency, ReportReading};

use crate::ledger::PADDING_BITS;
use crate::records::version;

/// The name of a datagram of reports, from its own fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportName {
    /// The reporting node; `None` where only the sender's address or the stack in the packet identifies it.
    pub node_id: Option<NodeId>,
    /// The part of the node that numbers the reports.
    pub hw_id: u8,
    /// Sequence number of the datagram.
    pub sequence: u32,
    /// Version of the format.
    pub version: ReportVersion,
}

impl ReportName {
    /// The name of a datagram; `None` where no version can be read from it.
    #[must_use]
    pub fn of(datagram: &[u8]) -> Option<Self> {
        let reading = |leniency| ReportReading {
            leniency,
            strictness: Strictness::Truncated,
            ..ReportReading::default()
        };
        let strict = AnyReport::parse_with(datagram, reading(Leniency::Strict));
        let report = strict.or_else(|_| AnyReport::parse_with(datagram, reading(Leniency::Lenient))).ok()?;
        Some(Self {
            node_id: report.node_id().map(NodeId),
            hw_id: report.hw_id(),
            sequence: report.sequence(),
            version: version(report.version()),
        })
    }

    /// Whether a reference may mean it, apart from the time. A lenient reading removes padding from the
    /// number.
    #[must_use]
    pub fn is_of(&self, report: &ReportReference) -> bool {
        let is_number = [self.sequence, self.sequence >> PADDING_BITS].contains(&report.sequence);
        let is_node = self.node_id.is_none_or(|node| node == report.node_id);
        is_number && is_node && self.hw_id == report.hw_id
    }
}
