//! Reports that only count missing packets.

use inband_model::NodeId;
use inband_wire::report::AnyIndividual;
use inband_wire::report::earlier::DropSummary;
use serde::{Deserialize, Serialize};

/// Missing packets of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Missing {
    /// Number of missing packets.
    pub(crate) packets: u32,
    /// Where the reporting node itself dropped them; `None`: unknown.
    pub(crate) dropped: Option<Between>,
}

/// The interfaces of packets in a node that dropped them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Between {
    pub(crate) ingress: Option<u16>,
    /// `None`: none was selected.
    pub(crate) egress: Option<u16>,
}

impl Missing {
    /// Reads a drop summary, that of Host-INT or the domain-specific metadata of a report 2.0.
    pub(super) fn read(report: &AnyIndividual<'_>, node_id: NodeId, summary_domain: u16) -> Option<Missing> {
        let summary = report.drop_summary().or_else(|| of_domain(report, summary_domain))?;
        // A node that is both source and sink reports drops of its own device.
        let is_own = [summary.source_node_id(), summary.sink_node_id()] == [node_id.0; 2];
        let chosen = |interface| (interface != 0).then_some(interface);
        let dropped =
            Between { ingress: chosen(summary.ingress_port()), egress: chosen(summary.egress_port()) };
        Some(Missing { packets: summary.gap().count, dropped: is_own.then_some(dropped) })
    }
}

/// The summary in the domain-specific metadata of a report 2.0, if it is of this domain.
fn of_domain<'a>(report: &AnyIndividual<'a>, domain: u16) -> Option<&'a DropSummary> {
    let AnyIndividual::Individual(report) = report else { return None };
    let has_summary = report.dropped()
        && domain != 0
        && report.domain_specific_id() == domain
        && report.ds_md_bits() & SUMMARY_BIT != 0;
    has_summary.then(|| DropSummary::read(report.domain_metadata())).flatten()
}

/// DSMdBits: the first metadata is a drop summary.
const SUMMARY_BIT: u16 = 0x8000;
