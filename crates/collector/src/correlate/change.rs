//! The first path of a flow, and its changes.

use inband_model::{Nanos, Observation, PathObservation};

use crate::detect::detector::{ChangeStage, SeenChange, SeenPath};
use crate::flows::{FlowIndex, PAST_PATHS, PastPath, RecentChange};
use crate::outbox::Outbox;
use crate::paths::PathIndex;

use super::finding::Finding;
use super::{Correlator, What};

impl Correlator {
    /// Makes the current hops the path of a flow and reports it; `None` when there is no room for the path.
    pub(super) fn adopt(
        &mut self,
        flow: FlowIndex,
        finding: &Finding,
        outbox: &mut Outbox,
    ) -> Option<PathIndex> {
        let now = finding.received_at;
        let new = self.network.acquire_path(now, self.trail.hops())?;
        self.network.touch_path(now, new);
        let entry = &mut self.network.flows[flow];
        let old = entry.path.replace(new);
        let was_whole = std::mem::replace(&mut entry.path_is_whole, finding.is_whole);
        entry.stack_confirms = finding.is_whole;
        entry.remaining_at_source = finding.remaining_at_source;
        entry.hops_expected = finding.hops_expected;
        entry.origin = finding.origin;
        let until = std::mem::replace(&mut entry.path_seen_at, now);
        let since = std::mem::replace(&mut entry.path_since, now);
        entry.latencies = self.trail.latencies().into();
        self.tell_or_keep_back(flow, now, outbox);
        if let Some(old) = old {
            if was_whole && finding.is_whole && !finding.is_same_way {
                self.note_change(flow, old, new, finding, outbox);
            }
            self.remember(flow, PastPath { path: old, since, until, left_at: now });
        }
        let slot = &self.network.paths[new];
        let path = SeenPath {
            flow,
            now,
            report: finding.report,
            path: &slot.path,
            ports: &slot.ports,
            is_first: old.is_none(),
            is_whole: finding.is_whole,
        };
        self.detectors.handle_path(&path, &self.network, outbox);
        self.note_resumption(flow, new, finding.report, outbox);
        Some(new)
    }

    /// Reports the path of a flow; at most once a second where it flaps, which it does with each packet where
    /// packets are sprayed over several paths.
    fn tell_or_keep_back(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        let entry = &mut self.network.flows[flow];
        let due = entry.told_at + FLAPPING_TOLD_EVERY;
        if !entry.flaps(now, self.network.settings.flap_window()) || due <= now {
            self.tell(flow, now, outbox);
        } else if !std::mem::replace(&mut entry.is_kept_back, true) {
            self.remind(due, flow, What::Tell);
        }
    }

    /// Reports the path of a flow whose report was postponed.
    pub(super) fn tell_kept_back(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        if self.network.flows[flow].is_kept_back {
            self.tell(flow, now, outbox);
        }
    }

    fn tell(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        let entry = &mut self.network.flows[flow];
        entry.told_at = now;
        entry.is_kept_back = false;
        let Some(path) = entry.path else { return };
        outbox.observe(Observation::Path(PathObservation {
            flow: entry.flow,
            path: self.network.paths[path].path.clone(),
            hop_latency: entry.latencies.iter().map(|latency| latency.map(|latency| latency.0)).collect(),
            hops_expected: entry.hops_expected,
            received_at: entry.path_since,
            origin: entry.origin,
        }));
    }

    /// Keeps a path that the flow has left; it replaces the oldest one.
    fn remember(&mut self, flow: FlowIndex, past: PastPath) {
        let paths = &mut self.network.flows[flow].past_paths;
        let oldest = (paths.len() >= PAST_PATHS).then(|| paths.remove(0));
        paths.push(past);
        if let Some(oldest) = oldest {
            self.network.paths.release(oldest.path);
        }
    }

    /// Passes a change of path to the detectors; unless the flow flaps, its old links have time to show
    /// whether they still carry flows.
    ///
    /// The paths of packets to several receivers differ by receiver, which is no change.
    fn note_change(
        &mut self,
        flow: FlowIndex,
        old: PathIndex,
        new: PathIndex,
        finding: &Finding,
        outbox: &mut Outbox,
    ) {
        let now = finding.received_at;
        let (report, confidence) = (finding.report, finding.confidence);
        let change = RecentChange { old, new, changed_at: now, report, confidence };
        let window = self.network.settings.flap_window();
        let entry = &mut self.network.flows[flow];
        entry.changed_at.rotate_right(1);
        entry.changed_at[0] = Some(now);
        let flaps = entry.flaps(now, window);
        if entry.flow.is_to_group() {
            return;
        }
        let before = entry.recent_change.take();
        if let Some(before) = before {
            self.show_change(flow, before, ChangeStage::Superseded, now, outbox);
            self.release_change(&before);
        }
        self.show_change(flow, change, ChangeStage::Seen { flaps }, now, outbox);
        if flaps {
            return;
        }
        self.network.paths.share(old);
        self.network.paths.share(new);
        self.network.flows[flow].recent_change = Some(change);
        if before.is_none() {
            self.remind(now + self.network.settings.reroute_after(), flow, What::SettleChange);
        }
    }

    /// Passes a change of path to the detectors once its old links have had time.
    pub(super) fn settle_change(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        let Some(change) = self.network.flows[flow].recent_change else { return };
        let due = change.changed_at + self.network.settings.reroute_after();
        if due > now {
            return self.remind(due, flow, What::SettleChange);
        }
        self.network.flows[flow].recent_change = None;
        self.show_change(flow, change, ChangeStage::Settled, now, outbox);
        self.release_change(&change);
    }

    fn show_change(
        &mut self,
        index: FlowIndex,
        change: RecentChange,
        stage: ChangeStage,
        now: Nanos,
        outbox: &mut Outbox,
    ) {
        let flow = self.network.flows[index].flow;
        let seen = SeenChange { index, flow, now, change, stage };
        self.detectors.handle_change(&seen, &self.network, outbox);
    }

    fn release_change(&mut self, change: &RecentChange) {
        self.network.paths.release(change.old);
        self.network.paths.release(change.new);
    }
}

/// Minimum interval between reports of the path of a flapping flow.
const FLAPPING_TOLD_EVERY: Nanos = Nanos::from_secs(1);
