//! Conversion of a parsed report to a draft.

use inband_wire::Link;
use inband_wire::int::Instructions;
use inband_wire::report::earlier::{DraftVersion, EarlierDraft, EarlierReport, ReportKind};
use inband_wire::report::{Draft, InnerType};

/// The draft that reproduces `report` when written in `version`; `None` without a packet.
#[must_use]
pub fn draft_of<'a>(report: &EarlierReport<'a>, version: DraftVersion) -> Option<EarlierDraft<'a>> {
    let (link, packet) = report.packet?;
    Some(EarlierDraft {
        version,
        node_id: report.node_id.unwrap_or_default(),
        hw_id: report.hw_id,
        sequence: report.sequence,
        report: Draft {
            inner_type: if link == Link::Ethernet { InnerType::Ethernet } else { InnerType::Ipv4 },
            dropped: report.dropped,
            congested_queue: report.congested_queue,
            tracked_flow: report.tracked_flow,
            intermediate: false,
            own_hop: report.kind == ReportKind::Local,
            metadata: report.metadata,
            instructions: Instructions(0xffff),
            drop: report.drop,
            domain: None,
            inner: packet,
        },
    })
}
