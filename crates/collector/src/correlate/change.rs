//! What happens when the path of a flow is first known, or changes.

use inband_model::{Confidence, Event, Flow, Nanos, Observation, PathChangeKind, PathObservation};

use crate::book::Course;
use crate::detect::detector::SeenPath;
use crate::detect::path_change::{end_change, path_change};
use crate::flows::{FLAPS, FlowIndex, PAST_PATHS, PastPath, PendingChange};
use crate::outbox::Outbox;
use crate::paths::PathIndex;

use super::finding::Finding;
use super::{Correlator, What};

impl Correlator {
    /// Makes the hops at hand the path of a flow, and tells so; `None` when there is no room for the path.
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
        entry.hops_expected = finding.hops_expected;
        entry.origin = finding.origin;
        let until = std::mem::replace(&mut entry.path_seen_at, now);
        let since = std::mem::replace(&mut entry.path_since, now);
        entry.latencies = self.trail.latencies().into();
        self.tell_or_keep_back(flow, now, outbox);
        if let Some(old) = old {
            if was_whole && finding.is_whole && !finding.is_same_way {
                self.announce_change(flow, old, new, finding, outbox);
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
        Some(new)
    }

    /// Tells the path of a flow; at most once a second where it flaps, as it does with each packet where packets are
    /// sprayed over several paths.
    fn tell_or_keep_back(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        let entry = &mut self.network.flows[flow];
        let due = entry.told_at + FLAPPING_TOLD_EVERY;
        if !entry.flaps(now, self.network.settings.flap_window()) || due <= now {
            self.tell(flow, now, outbox);
        } else if !std::mem::replace(&mut entry.is_kept_back, true) {
            self.remind(due, flow, What::Tell);
        }
    }

    /// Tells the path that a flow has, where its telling was put off.
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

    /// Keeps a path that the flow has left, in place of the oldest one.
    fn remember(&mut self, flow: FlowIndex, past: PastPath) {
        let paths = &mut self.network.flows[flow].past_paths;
        let oldest = (paths.len() >= PAST_PATHS).then(|| paths.remove(0));
        paths.push(past);
        if let Some(oldest) = oldest {
            self.network.paths.release(oldest.path);
        }
    }

    fn announce_change(
        &mut self,
        flow: FlowIndex,
        old: PathIndex,
        new: PathIndex,
        finding: &Finding,
        outbox: &mut Outbox,
    ) {
        let now = finding.received_at;
        let change = self.kind_of_change(flow, old, new, now);
        let has_reminder = self.leave_undecided(flow, outbox);
        let entry = &mut self.network.flows[flow];
        if change == PathChangeKind::Flap {
            let window = self.network.settings.flap_window();
            if entry.flap_announced_at.is_some_and(|at| now.since(at) <= window) {
                return;
            }
            entry.flap_announced_at = Some(now);
        }
        let changes = if change == PathChangeKind::Flap { FLAPS as u64 } else { 1 };
        let paths = [old, new].map(|path| &self.network.paths[path].path);
        let event = path_change(entry.flow, change, paths, finding.report, finding.confidence);
        let event = Event { count: changes, ..event };
        if change == PathChangeKind::EcmpMove {
            // It may turn out to be a reroute, which its end then says.
            outbox.begin(event, Course::UNTIL_ENDED);
            self.await_classification(flow, old, new, finding, has_reminder);
        } else {
            outbox.announce(event);
        }
    }

    /// Ends the announcement of the change before, whose kind nothing will tell any more; returns whether there was one.
    fn leave_undecided(&mut self, flow: FlowIndex, outbox: &mut Outbox) -> bool {
        let entry = &mut self.network.flows[flow];
        let Some(pending) = entry.pending.take() else { return false };
        let event = self.decided(self.network.flows[flow].flow, &pending, PathChangeKind::EcmpMove);
        end_change(event, outbox);
        self.release_pending(&pending);
        true
    }

    /// The end of a change, as what it turned out to be.
    pub(super) fn decided(&self, flow: Flow, pending: &PendingChange, change: PathChangeKind) -> Event {
        let PendingChange { old, new, report, confidence, .. } = *pending;
        let is_moved = change == PathChangeKind::EcmpMove;
        // That a link carries no flow may be for want of flows.
        let confidence = if is_moved { confidence } else { confidence.min(Confidence::Probable) };
        path_change(flow, change, [old, new].map(|path| &self.network.paths[path].path), report, confidence)
    }

    /// Notes the change, and says of what kind it is as far as can be told at once.
    fn kind_of_change(
        &mut self,
        flow: FlowIndex,
        old: PathIndex,
        new: PathIndex,
        now: Nanos,
    ) -> PathChangeKind {
        let window = self.network.settings.flap_window();
        let entry = &mut self.network.flows[flow];
        entry.changed_at.rotate_right(1);
        entry.changed_at[0] = Some(now);
        if entry.flaps(now, window) {
            return PathChangeKind::Flap;
        }
        let dead_since = Nanos(now.0.saturating_sub(self.network.settings.reroute_after_ns));
        if self.network.paths.left_a_dead_link(old, new, dead_since, &self.network.links) {
            PathChangeKind::Reroute
        } else {
            PathChangeKind::EcmpMove
        }
    }

    fn await_classification(
        &mut self,
        flow: FlowIndex,
        old: PathIndex,
        new: PathIndex,
        finding: &Finding,
        has_reminder: bool,
    ) {
        let pending = PendingChange {
            old: self.network.paths.share(old),
            new: self.network.paths.share(new),
            changed_at: finding.received_at,
            report: finding.report,
            confidence: finding.confidence,
        };
        self.network.flows[flow].pending = Some(pending);
        if !has_reminder {
            self.remind(finding.received_at + self.network.settings.reroute_after(), flow, What::Classify);
        }
    }

    /// Tells of a change of path that it was a reroute, when no flow has used the old links since.
    pub(super) fn classify(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        let entry = &mut self.network.flows[flow];
        let Some(pending) = entry.pending else { return };
        let due = pending.changed_at + self.network.settings.reroute_after();
        if due > now {
            return self.remind(due, flow, What::Classify);
        }
        entry.pending = None;
        let is_dead = self.network.paths.left_a_dead_link(
            pending.old,
            pending.new,
            pending.changed_at,
            &self.network.links,
        );
        let change = if is_dead { PathChangeKind::Reroute } else { PathChangeKind::EcmpMove };
        let event = self.decided(self.network.flows[flow].flow, &pending, change);
        end_change(Event { last: now, ..event }, outbox);
        self.release_pending(&pending);
    }

    fn release_pending(&mut self, pending: &PendingChange) {
        self.network.paths.release(pending.old);
        self.network.paths.release(pending.new);
    }
}

/// How often the path of a flow that flaps is told at most.
const FLAPPING_TOLD_EVERY: Nanos = Nanos::from_secs(1);
