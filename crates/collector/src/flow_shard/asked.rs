//! The state of a flow shard, for its callers.

use inband_model::api::{FlowPathView, FlowView, LinkView, PortView, QueueView};
use inband_model::{EventView, Flow};

use crate::detect::CongestionSettings;
use crate::detect::path_policy::{RuleView, Verdict};
use crate::timeline::Timeline;

use super::FlowShard;

impl FlowShard {
    /// The links learned from paths, in no order.
    pub fn links(&self) -> impl Iterator<Item = LinkView> {
        self.correlator.links().map(|link| self.timeline().link(link))
    }

    /// The recent flows with their paths, in no order.
    pub fn flows(&self) -> impl Iterator<Item = FlowView<'_>> {
        self.correlator.flows().map(|flow| self.timeline().flow(flow))
    }

    /// One flow; `None` when it has no recent report.
    #[must_use]
    pub fn flow(&self, flow: &Flow) -> Option<FlowView<'_>> {
        self.correlator.flow_view(flow).map(|flow| self.timeline().flow(flow))
    }

    /// The recent paths of a flow, latest first; empty for an unknown flow.
    #[must_use]
    pub fn flow_paths(&self, flow: &Flow) -> Vec<FlowPathView<'_>> {
        let paths = self.correlator.flow_paths(flow).into_iter();
        paths.map(|path| self.timeline().flow_path(path)).collect()
    }

    /// The egress interfaces of all nodes, in no order.
    pub fn ports(&self) -> impl Iterator<Item = PortView> {
        let own = self.correlator.ports().views().filter(|port| self.share.has_node(port.node_id));
        own.map(|port| self.timeline().port(port))
    }

    /// The queues with a reported occupancy, each as last reported, in no order.
    pub fn queues(&self) -> impl Iterator<Item = QueueView> {
        self.correlator.ports().queues(self.told_at).map(|queue| self.timeline().queue(queue))
    }

    /// The thresholds of queue congestion.
    #[must_use]
    pub fn congestion_settings(&self) -> &CongestionSettings {
        self.correlator.congestion_settings()
    }

    /// The verdicts of each path rule on the flows it covers.
    #[must_use]
    pub fn rules(&self) -> Vec<RuleView> {
        self.correlator.rule_views()
    }

    /// The verdicts on the path of a flow, each with the name of its rule.
    #[must_use]
    pub fn verdicts(&self, flow: &Flow) -> Vec<(&str, Verdict)> {
        self.correlator.verdicts(flow)
    }

    /// The active events, in no order.
    pub fn active_events(&self) -> impl Iterator<Item = &EventView> {
        self.outbox.book.active()
    }

    /// The latest past events, latest first.
    pub fn past_events(&self) -> impl Iterator<Item = &EventView> {
        self.outbox.book.past()
    }

    fn timeline(&self) -> &Timeline {
        &self.outbox.book.timeline
    }
}
