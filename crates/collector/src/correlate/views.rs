//! Views of the flows.

use inband_model::api::{FlowPathView, FlowView, LinkView};
use inband_model::{Flow, Nanos};

use crate::detect::CongestionSettings;
use crate::detect::path_policy::{RuleView, Verdict};
use crate::flows::{FlowEntry, PAST_PATHS};
use crate::paths::PathIndex;
use crate::ports::Ports;
use crate::snapshot::FlowSnapshot;
use crate::timeline::Timeline;

use super::Correlator;

/// What was dropped or evicted because a table was full, and how full the tables are.
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
    /// Number of flows.
    pub(crate) fn flow_count(&self) -> usize {
        self.network.flows.len()
    }

    /// The flows, in no order.
    pub(crate) fn flows(&self) -> impl Iterator<Item = FlowView<'_>> {
        self.network.flows.iter().map(|entry| self.view(entry))
    }

    /// One flow.
    pub(crate) fn flow_view(&self, flow: &Flow) -> Option<FlowView<'_>> {
        self.network.flows.find(flow).map(|index| self.view(&self.network.flows[index]))
    }

    /// Copies the flows; their times are times of day.
    pub(crate) fn snapshot(&self, timeline: &Timeline) -> FlowSnapshot {
        let mut snapshot = FlowSnapshot::with_capacity(self.network.flows.len());
        // Many flows share a path, which is copied once.
        let mut places = vec![None; self.network.paths.places()];
        let mut copy = |snapshot: &mut FlowSnapshot, index: PathIndex| {
            *places[index.place()].get_or_insert_with(|| snapshot.add_path(&self.network.paths[index].path))
        };
        self.network.flows.iter().for_each(|entry| snapshot.add_latencies(&entry.latencies));
        for entry in self.network.flows.iter() {
            self.copy_flow(entry, timeline, &mut snapshot, &mut copy);
        }
        snapshot
    }

    /// Copies one flow; its times are times of day.
    pub(crate) fn snapshot_of(&self, flow: &Flow, timeline: &Timeline) -> Option<FlowSnapshot> {
        let entry = &self.network.flows[self.network.flows.find(flow)?];
        let mut snapshot = FlowSnapshot::with_capacity(1);
        snapshot.add_latencies(&entry.latencies);
        let mut copy = |snapshot: &mut FlowSnapshot, index: PathIndex| {
            snapshot.add_path(&self.network.paths[index].path)
        };
        self.copy_flow(entry, timeline, &mut snapshot, &mut copy);
        Some(snapshot)
    }

    /// Copies a flow whose latencies are copied; `copy` copies a path and returns its place.
    fn copy_flow(
        &self,
        entry: &FlowEntry,
        timeline: &Timeline,
        snapshot: &mut FlowSnapshot,
        copy: &mut impl FnMut(&mut FlowSnapshot, PathIndex) -> u32,
    ) {
        let path = entry.path.map(|index| copy(snapshot, index));
        let mut past = [(0, Nanos::ZERO, Nanos::ZERO); PAST_PATHS];
        let latest_first = entry.past_paths.iter().rev().take(PAST_PATHS);
        for (copied, taken) in past.iter_mut().zip(latest_first) {
            let place = copy(snapshot, taken.path);
            *copied = (place, timeline.time_of_day(taken.since), timeline.time_of_day(taken.until));
        }
        let past = past.into_iter().take(entry.past_paths.len());
        snapshot.add_flow(&timeline.flow(self.view(entry)), path, past);
    }

    /// The recent paths of a flow, latest first.
    pub(crate) fn flow_paths(&self, flow: &Flow) -> Vec<FlowPathView<'_>> {
        let Some(index) = self.network.flows.find(flow) else { return Vec::new() };
        let entry = &self.network.flows[index];
        let current = entry.path.map(|path| (path, entry.path_since, entry.path_seen_at, true));
        let past = entry.past_paths.iter().rev().map(|past| (past.path, past.since, past.until, false));
        let paths = current.into_iter().chain(past);
        paths.map(|(path, since, until, current)| self.path_view(path, since, until, current)).collect()
    }

    fn path_view(&self, path: PathIndex, since: Nanos, until: Nanos, current: bool) -> FlowPathView<'_> {
        let path = &self.network.paths[path].path;
        FlowPathView { id: path.id(), path, since, until, current }
    }

    fn view<'a>(&'a self, entry: &'a FlowEntry) -> FlowView<'a> {
        FlowView {
            id: entry.flow.id(),
            flow: entry.flow,
            path: entry.path.map(|path| &self.network.paths[path].path),
            hop_latency: &entry.latencies,
            hops_expected: entry.hops_expected,
            complete: self.network.is_complete(entry),
            origin: entry.origin,
            path_since: entry.path_since,
            path_seen_at: entry.path_seen_at,
            first_seen: entry.first_seen,
            last_seen: entry.last_seen,
            reports: entry.reports,
        }
    }

    pub(crate) fn occupancy(&self) -> Occupancy {
        Occupancy {
            flows: self.network.flows.len(),
            paths: self.network.paths.len(),
            evicted_flows: self.evicted_flows,
            aged_flows: self.aged_flows,
            refused_paths: self.network.paths.refused(),
            unlearned_links: self.network.links.unlearned(),
            unfollowed_ports: self.network.ports.overflow() + self.detectors.unfollowed_ports(),
            ungrouped_drops: self.detectors.drop.ungrouped(),
            late_reports: self.late_reports,
            unplaced_nodes: self.unplaced_nodes,
        }
    }

    pub(crate) fn ports(&self) -> &Ports {
        &self.network.ports
    }

    /// The links learned from paths, in no order.
    pub(crate) fn links(&self) -> impl Iterator<Item = LinkView> {
        let clocks = &self.detectors.clock;
        self.network.links.views().map(|(link, view)| LinkView {
            latency: clocks.latency(link),
            clock_uncertainty: clocks.uncertainty(link, &self.network.links),
            ..view
        })
    }

    /// The thresholds of queue congestion.
    pub(crate) const fn congestion_settings(&self) -> &CongestionSettings {
        self.detectors.queue_congestion.settings()
    }

    /// The verdicts of each rule on the flows it covers.
    pub(crate) fn rule_views(&self) -> Vec<RuleView> {
        self.detectors.path_policy.views(&self.network)
    }

    /// The verdict of each rule that covers a flow.
    pub(crate) fn verdicts(&self, flow: &Flow) -> Vec<(&str, Verdict)> {
        self.detectors.path_policy.verdicts(flow, &self.network)
    }
}
