//! The state of the collector, for its callers.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use inband_model::api::{FlowPathView, FlowView, LinkView, NodeView, PortView, QueueView, TopologyView};
use inband_model::{
    Acknowledgement, EventId, EventView, Flow, FlowId, Ledger, LedgerView, Nanos, NodeId, Silence,
};

use crate::detect::CongestionSettings;
use crate::detect::path_policy::{RuleView, Verdict};
use crate::report::Fault;
use crate::sketch::Sketch;
use crate::snapshot::FlowSnapshot;
use crate::timeline::Timeline;

use super::Collector;

impl Collector {
    /// The totals so far.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.intake.ledger.total()
    }

    /// The totals so far, every stream, and the reasons for malformed reports.
    #[must_use]
    pub fn ledger_view(&self) -> LedgerView {
        LedgerView {
            malformed: self.intake.malformed.counts(),
            unreadable: self.intake.unreadable.counts(),
            overflows: self.overflows().counts().map(|(name, count)| (name.to_owned(), count)).into(),
            ..self.intake.ledger.view()
        }
    }

    /// The faults of the malformed datagrams.
    pub fn malformed(&self) -> impl Iterator<Item = Fault> {
        self.intake.malformed.iter()
    }

    /// The faults of reported packets that are marked as INT but cannot be INT; their reports count as
    /// accepted.
    pub fn unreadable(&self) -> impl Iterator<Item = Fault> {
        self.intake.unreadable.iter()
    }

    /// The nodes that report and those on metadata stacks, in order of id.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeView> {
        let mut nodes = BTreeMap::new();
        for stream in self.intake.ledger.reporters() {
            let (node, _) = nodes.entry(stream.node_id).or_insert_with(|| unknown_node(stream.node_id));
            node.reports += stream.reports;
            node.lost += stream.lost;
            node.lost_unknown += stream.lost_unknown;
            for address in stream.addresses.into_iter().flatten() {
                if !node.addresses.contains(&address) {
                    node.addresses.push(address);
                }
            }
            see(node, stream.first_seen, stream.last_seen);
        }
        for port in self.flows.correlator.ports().iter() {
            let (node, latency) = nodes.entry(port.node_id).or_insert_with(|| unknown_node(port.node_id));
            node.egress_interfaces.extend(port.egress_interface);
            see(node, port.first_seen, port.last_seen);
            latency.merge(port.latency());
        }
        let nodes = nodes.into_values().map(|(mut node, latency)| {
            node.egress_interfaces.sort_unstable();
            self.timeline().node(NodeView { latency: latency.summary(), ..node })
        });
        nodes.collect()
    }

    /// The ids of the nodes of [`nodes`](Self::nodes), and whether each reports; this takes far less time.
    #[must_use]
    pub fn node_ids(&self) -> BTreeMap<NodeId, bool> {
        let ports = self.flows.correlator.ports().node_ids();
        let mut nodes: BTreeMap<NodeId, bool> = ports.into_iter().map(|node_id| (node_id, false)).collect();
        for stream in self.intake.ledger.reporters() {
            *nodes.entry(stream.node_id).or_default() |= stream.reports > 0;
        }
        nodes
    }

    /// The links learned from paths, in no order.
    pub fn links(&self) -> impl Iterator<Item = LinkView> {
        self.flows.links()
    }

    /// The nodes and the links between them.
    #[must_use]
    pub fn topology(&self) -> TopologyView {
        TopologyView { nodes: self.nodes(), links: self.sorted_links() }
    }

    /// The links learned from paths, in order of the ids of the nodes at their ends.
    #[must_use]
    pub fn sorted_links(&self) -> Vec<LinkView> {
        let mut links: Vec<LinkView> = self.links().collect();
        links.sort_by_key(|link| (link.from, link.egress_interface, link.to, link.ingress_interface));
        links
    }

    /// The recent flows with their paths, in no order.
    pub fn flows(&self) -> impl Iterator<Item = FlowView<'_>> {
        self.flows.flows()
    }

    /// The `count` flows with the most reports, busiest first.
    #[must_use]
    pub fn top_flows(&self, count: usize) -> Vec<FlowView<'_>> {
        let rank = |flow: &FlowView<'_>| (Reverse(flow.reports), flow.id);
        let mut flows: Vec<FlowView<'_>> = self.flows().collect();
        if count < flows.len() {
            flows.select_nth_unstable_by_key(count, rank);
            flows.truncate(count);
        }
        flows.sort_by_key(rank);
        flows
    }

    /// Number of recent flows.
    #[must_use]
    pub fn flow_count(&self) -> usize {
        self.flows.correlator.flow_count()
    }

    /// A copy of the flows with their recent paths.
    #[must_use]
    pub fn flow_snapshot(&self) -> FlowSnapshot {
        self.flows.correlator.snapshot(self.timeline())
    }

    /// A copy of one flow with its recent paths; `None` when it has no recent report.
    #[must_use]
    pub fn flow_snapshot_of(&self, flow: &Flow) -> Option<FlowSnapshot> {
        self.flows.correlator.snapshot_of(flow, self.timeline())
    }

    /// One flow; `None` when it has no recent report.
    #[must_use]
    pub fn flow(&self, flow: &Flow) -> Option<FlowView<'_>> {
        self.flows.flow(flow)
    }

    /// The flow with this id.
    #[must_use]
    pub fn flow_by_id(&self, id: FlowId) -> Option<FlowView<'_>> {
        self.flows().find(|flow| flow.id == id)
    }

    /// The recent paths of a flow, latest first; empty for an unknown flow.
    #[must_use]
    pub fn flow_paths(&self, flow: &Flow) -> Vec<FlowPathView<'_>> {
        self.flows.flow_paths(flow)
    }

    /// The egress interfaces of all nodes, in no order.
    pub fn ports(&self) -> impl Iterator<Item = PortView> {
        self.flows.ports()
    }

    /// The queues with a reported occupancy, each as last reported, in no order.
    pub fn queues(&self) -> impl Iterator<Item = QueueView> {
        self.flows.queues()
    }

    /// The `count` queues that were deepest in the last second or two, deepest first: those with a known
    /// depth in bytes, then the others by the value from their nodes.
    #[must_use]
    pub fn deepest_queues(&self, count: usize) -> Vec<QueueView> {
        let mut queues: Vec<QueueView> = self.queues().collect();
        queues.sort_by_cached_key(|queue| {
            let QueueView { node_id, egress_interface, queue_id, .. } = *queue;
            let bytes = self.intake.units().of(node_id).queue_bytes(queue.recent);
            (Reverse(bytes), Reverse(queue.recent), node_id, egress_interface, queue_id)
        });
        queues.truncate(count);
        queues
    }

    /// The thresholds of queue congestion.
    #[must_use]
    pub fn congestion_settings(&self) -> &CongestionSettings {
        self.flows.congestion_settings()
    }

    /// The verdicts of each path rule on the flows it covers.
    #[must_use]
    pub fn rules(&self) -> Vec<RuleView> {
        self.flows.rules()
    }

    /// The verdicts on the path of a flow, each with the name of its rule.
    #[must_use]
    pub fn verdicts(&self, flow: &Flow) -> Vec<(&str, Verdict)> {
        self.flows.verdicts(flow)
    }

    /// The active events, in no order.
    pub fn active_events(&self) -> impl Iterator<Item = &EventView> {
        self.flows.active_events()
    }

    /// The latest past events, latest first.
    pub fn past_events(&self) -> impl Iterator<Item = &EventView> {
        self.flows.past_events()
    }

    /// Acknowledges an event; false when no event has this id.
    pub fn acknowledge(&mut self, id: EventId, acknowledgement: Acknowledgement) -> bool {
        self.flows.outbox.book.acknowledge(id, acknowledgement)
    }

    /// The silences in force, each with its number.
    pub fn silences(&self) -> impl Iterator<Item = (u64, &Silence)> {
        self.flows.outbox.book.silences.iter()
    }

    /// Adds a silence and returns its number; `None` when 1024 are in force.
    pub fn silence(&mut self, silence: Silence) -> Option<u64> {
        let now = self.time_of_day(self.flows.told_at);
        self.flows.outbox.book.silences.add(now, silence)
    }

    /// Restores a silence of an earlier run under its number, or under another if that is taken, and returns
    /// the number; `None` when the maximum number is in force.
    pub fn restore_silence(&mut self, number: u64, silence: Silence) -> Option<u64> {
        self.flows.outbox.book.silences.restore(number, silence)
    }

    /// Lifts a silence; false when no silence has this number.
    pub fn lift_silence(&mut self, number: u64) -> bool {
        self.flows.outbox.book.silences.lift(number)
    }

    fn timeline(&self) -> &Timeline {
        &self.flows.outbox.book.timeline
    }
}

fn unknown_node(node_id: NodeId) -> (NodeView, Sketch) {
    let node = NodeView {
        node_id,
        addresses: Vec::new(),
        reports: 0,
        lost: 0,
        lost_unknown: 0,
        first_seen: Nanos::MAX,
        last_seen: Nanos::ZERO,
        egress_interfaces: Vec::new(),
        latency: None,
    };
    (node, Sketch::new())
}

fn see(node: &mut NodeView, first: Nanos, last: Nanos) {
    node.first_seen = node.first_seen.min(first);
    node.last_seen = node.last_seen.max(last);
}
