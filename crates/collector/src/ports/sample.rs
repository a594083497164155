//! One hop of one report, as input of the statistics.

use inband_model::{Confidence, Event, EventDetail, Flow, Nanos, NodeId, ReportReference, Severity};

use crate::report::HopReading;
use crate::sighting::Sighting;

use super::index::{PortIndex, QueueIndex};

/// One hop of one report, as input of the statistics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'a> {
    sighting: &'a Sighting<'a>,
    pub(crate) reading: &'a HopReading,
    /// The interface through which the packet left.
    pub(crate) port: PortIndex,
    /// The queue it waited in; `None` where there is no room for another queue.
    pub(crate) queue: Option<QueueIndex>,
}

impl<'a> Sample<'a> {
    /// One of the hops of a report, with its egress `port`.
    #[inline]
    pub(crate) fn new(sighting: &'a Sighting<'a>, port: PortIndex, reading: &'a HopReading) -> Self {
        Self { sighting, reading, port, queue: None }
    }

    /// When the report arrived.
    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        self.sighting.now
    }

    pub(crate) fn report(&self) -> ReportReference {
        self.sighting.report
    }

    /// The Q bit, if it concerns this hop: it concerns the queue of the reporting node.
    #[inline]
    pub(crate) fn congested_queue(&self) -> bool {
        self.sighting.reading.congested_queue && self.reading.hop.node_id == self.sighting.report.node_id
    }

    /// Whether the reporting node dropped the packet at this hop.
    pub(crate) fn is_dropped(&self) -> bool {
        self.sighting.reading.dropped && self.reading.hop.node_id == self.sighting.report.node_id
    }

    /// The flow of the packet.
    pub(crate) fn flow(&self) -> Option<&'a Flow> {
        self.sighting.reading.flow.as_ref()
    }

    /// Length of the packet from its IP header on, bytes; 0 where it is unknown.
    #[inline]
    pub(crate) fn packet_bytes(&self) -> u32 {
        self.sighting.reading.packet_bytes
    }

    /// The node and the egress interface; `None` where the node does not report it.
    pub(crate) fn interface(&self) -> (NodeId, Option<u16>) {
        (self.reading.hop.node_id, self.reading.hop.egress_interface)
    }

    /// That interface in the keys of events.
    pub(crate) fn interface_key(&self) -> String {
        let (node_id, egress_interface) = self.interface();
        let egress = egress_interface.map_or("?".to_owned(), |id| id.to_string());
        format!("node {node_id} egress {egress}")
    }

    /// An event of that interface, with confidence probable and severity warning.
    pub(crate) fn warning(&self, detail: EventDetail) -> Event {
        let key = self.interface_key();
        Event::of_report(detail, Severity::Warning, key, Confidence::Probable, self.report())
    }

    /// When the packet arrived and when it left, by the node's clock if reported, else by the collector's.
    pub(crate) fn residence(&self) -> (u64, u64) {
        let latency = self.reading.latency.map_or(0, |latency| latency.0);
        match self.reading.came_at() {
            Some(came_at) => (came_at, came_at.saturating_add(latency)),
            None => (self.now().0.saturating_sub(latency), self.now().0),
        }
    }
}
