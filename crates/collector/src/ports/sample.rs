//! One hop of one report, on its way into the statistics.

use inband_model::{Confidence, Event, EventDetail, Flow, Nanos, NodeId, ReportReference, Severity};

use crate::report::HopReading;

use super::index::{PortIndex, QueueIndex};

/// One hop of one report, on its way into the statistics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'a> {
    pub(crate) now: Nanos,
    pub(crate) report: ReportReference,
    /// The interface the packet left by.
    pub(crate) port: PortIndex,
    /// The queue it waited in; `None` where there is no room for another queue.
    pub(crate) queue: Option<QueueIndex>,
    pub(crate) reading: &'a HopReading,
    /// Q, where it is about this hop.
    pub(crate) congested_queue: bool,
    /// The flow of the packet.
    pub(crate) flow: Option<&'a Flow>,
    /// Length of the packet from its IP header on, bytes; 0 where it is not known.
    pub(crate) packet_bytes: u32,
}

impl Sample<'_> {
    /// The node, and the interface the packet left by; `None` where the node does not tell.
    pub(crate) fn interface(&self) -> (NodeId, Option<u16>) {
        (self.reading.hop.node_id, self.reading.hop.egress_interface)
    }

    /// Names that interface in the keys of events.
    pub(crate) fn interface_key(&self) -> String {
        let (node_id, egress_interface) = self.interface();
        let egress = egress_interface.map_or("?".to_owned(), |id| id.to_string());
        format!("node {node_id} egress {egress}")
    }

    /// An event of that interface, probable and a warning.
    pub(crate) fn warning(&self, detail: EventDetail) -> Event {
        let key = self.interface_key();
        Event::of_report(detail, Severity::Warning, key, Confidence::Probable, self.report)
    }

    /// When the packet came and when it left, by the node's clock where that is told, else by ours.
    pub(crate) fn residence(&self) -> (u64, u64) {
        let latency = self.reading.latency.map_or(0, |latency| latency.0);
        match self.reading.came_at() {
            Some(came_at) => (came_at, came_at.saturating_add(latency)),
            None => (self.now.0.saturating_sub(latency), self.now.0),
        }
    }
}
