//! What can be read of the flows?

use inband_model::{Flow, Nanos, NodeId};

use crate::flows::FlowEntry;
use crate::paths::{Links, PathIndex};
use crate::ports::Ports;
use crate::views::{FlowPathView, FlowView};

use super::Correlator;

/// What was dropped or forgotten because a table was full, and how full they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Occupancy {
    pub(crate) flows: usize,
    pub(crate) paths: usize,
    pub(crate) evicted_flows: u64,
    pub(crate) aged_flows: u64,
    pub(crate) refused_paths: u64,
    pub(crate) unlearned_links: u64,
    pub(crate) unfollowed_ports: u64,
    pub(crate) ungrouped_drops: u64,
    pub(crate) late_reports: u64,
    pub(crate) unplaced_nodes: u64,
}

impl Correlator {
    /// The flows, in no order.
    pub(crate) fn flows(&self) -> impl Iterator<Item = FlowView<'_>> {
        self.flows.iter().map(|entry| self.view(entry))
    }

    /// One flow.
    pub(crate) fn flow_view(&self, flow: &Flow) -> Option<FlowView<'_>> {
        self.flows.find(flow).map(|index| self.view(&self.flows[index]))
    }

    /// The latest paths of a flow, the latest first.
    pub(crate) fn flow_paths(&self, flow: &Flow) -> Vec<FlowPathView<'_>> {
        let Some(index) = self.flows.find(flow) else { return Vec::new() };
        let entry = &self.flows[index];
        let current = entry.path.map(|path| (path, entry.path_since, entry.path_seen_at, true));
        let past = entry.past_paths.iter().rev().map(|past| (past.path, past.since, past.until, false));
        let paths = current.into_iter().chain(past);
        paths.map(|(path, since, until, current)| self.path_view(path, since, until, current)).collect()
    }

    fn path_view(&self, path: PathIndex, since: Nanos, until: Nanos, current: bool) -> FlowPathView<'_> {
        let path = &self.paths[path].path;
        FlowPathView { id: path.id(), path, since, until, current }
    }

    fn view<'a>(&'a self, entry: &'a FlowEntry) -> FlowView<'a> {
        FlowView {
            id: entry.flow.id(),
            flow: entry.flow,
            path: entry.path.map(|path| &self.paths[path].path),
            hop_latency: &entry.latencies,
            hops_expected: entry.hops_expected,
            complete: self.is_complete(entry),
            origin: entry.origin,
            path_since: entry.path_since,
            path_seen_at: entry.path_seen_at,
            first_seen: entry.first_seen,
            last_seen: entry.last_seen,
            reports: entry.reports,
        }
    }

    /// Whether all hops of the path of a flow were seen, as far as is known.
    pub(super) fn is_complete(&self, entry: &FlowEntry) -> bool {
        let hops = entry.path.map_or(&[][..], |path| self.paths[path].path.hops());
        let has_all = entry.hops_expected.is_some_and(|expected| hops.len() >= usize::from(expected));
        let (Some(first), Some(last)) = (hops.first(), hops.last()) else { return false };
        let is_edge = |node_id: NodeId, interface: Option<u16>| {
            let edges = &self.settings.edges;
            edges.is_empty()
                || edges.iter().any(|edge| edge.node == node_id.0 && Some(edge.interface) == interface)
        };
        has_all
            && is_edge(first.node_id, first.ingress_interface)
            && is_edge(last.node_id, last.egress_interface)
    }

    pub(crate) fn occupancy(&self) -> Occupancy {
        Occupancy {
            flows: self.flows.len(),
            paths: self.paths.len(),
            evicted_flows: self.evicted_flows,
            aged_flows: self.aged_flows,
            refused_paths: self.paths.refused(),
            unlearned_links: self.links.unlearned(),
            unfollowed_ports: self.ports.overflow() + self.detectors.unfollowed_ports(),
            ungrouped_drops: self.drops.ungrouped(),
            late_reports: self.late_reports,
            unplaced_nodes: self.unplaced_nodes,
        }
    }

    pub(crate) fn ports(&self) -> &Ports {
        &self.ports
    }

    pub(crate) fn links(&self) -> &Links {
        &self.links
    }
}
