//! What happens when a flow's path is first known, or changes?

use inband_model::{
    Confidence, Event, EventKind, Flow, Nanos, Observation, Origin, PathChangeKind, PathObservation,
};

use crate::book::Course;
use crate::detect::detector::SeenPath;
use crate::flows::{FLAPS, FlowIndex, PAST_PATHS, PastPath, PendingChange};
use crate::outbox::Outbox;
use crate::paths::PathIndex;

use super::events::path_change;
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
        let new = self.paths.acquire(now, self.trail.hops(), &mut self.links, &mut self.ports)?;
        self.paths.touch(now, new, self.settings.link_resolution(), &mut self.links);
        let entry = &mut self.flows[flow];
        let entry_flow = entry.flow;
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
        } else if let Some(event) = self.newcomers.welcome(finding.report, entry_flow, &self.paths[new].path)
        {
            outbox.announce(event);
        }
        if finding.is_whole {
            let path = &self.paths[new];
            let (hops, ports) = (path.path.hops(), &path.ports);
            self.detectors.handle_path(&SeenPath { now, report: finding.report, hops, ports });
            self.judge(flow, finding.report, outbox);
        }
        Some(new)
    }

    /// Tells the path of a flow; at most once a second where it flaps, as it does with each packet where packets are
    /// sprayed over several paths.
    fn tell_or_keep_back(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        let entry = &mut self.flows[flow];
        let due = entry.told_at + FLAPPING_TOLD_EVERY;
        if !entry.flaps(now, self.settings.flap_window()) || due <= now {
            self.tell(flow, now, outbox);
        } else if !std::mem::replace(&mut entry.is_kept_back, true) {
            self.remind(due, flow, What::Tell);
        }
    }

    /// Tells the path that a flow has, where its telling was put off.
    pub(super) fn tell_kept_back(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        if self.flows[flow].is_kept_back {
            self.tell(flow, now, outbox);
        }
    }

    fn tell(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        let entry = &mut self.flows[flow];
        entry.told_at = now;
        entry.is_kept_back = false;
        let Some(path) = entry.path else { return };
        outbox.observe(Observation::Path(PathObservation {
            flow: entry.flow,
            path: self.paths[path].path.clone(),
            hop_latency: entry.latencies.iter().map(|latency| latency.map(|latency| latency.0)).collect(),
            hops_expected: entry.hops_expected,
            received_at: entry.path_since,
            origin: entry.origin,
        }));
    }

    /// Keeps a path that the flow has left, in place of the oldest one.
    fn remember(&mut self, flow: FlowIndex, past: PastPath) {
        let paths = &mut self.flows[flow].past_paths;
        let oldest = (paths.len() >= PAST_PATHS).then(|| paths.remove(0));
        paths.push(past);
        if let Some(oldest) = oldest {
            self.paths.release(oldest.path);
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
        let entry = &mut self.flows[flow];
        if change == PathChangeKind::Flap {
            let window = self.settings.flap_window();
            if entry.flap_announced_at.is_some_and(|at| now.since(at) <= window) {
                return;
            }
            entry.flap_announced_at = Some(now);
        }
        let changes = if change == PathChangeKind::Flap { FLAPS as u64 } else { 1 };
        let (old_path, new_path) = (&self.paths[old].path, &self.paths[new].path);
        let event = path_change(entry.flow, change, old_path, new_path, finding, changes);
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
        let entry = &mut self.flows[flow];
        let Some(pending) = entry.pending.take() else { return false };
        let event = self.decided(self.flows[flow].flow, &pending, PathChangeKind::EcmpMove);
        end_change(event, outbox);
        self.release_pending(&pending);
        true
    }

    /// The end of a change, as what it turned out to be.
    pub(super) fn decided(&self, flow: Flow, pending: &PendingChange, change: PathChangeKind) -> Event {
        let PendingChange { old, new, changed_at, report, confidence } = *pending;
        let is_moved = change == PathChangeKind::EcmpMove;
        let finding = Finding {
            received_at: changed_at,
            report,
            origin: Origin::MdStack,
            // That a link carries no flow may be for want of flows.
            confidence: if is_moved { confidence } else { confidence.min(Confidence::Probable) },
            is_whole: true,
            is_same_way: false,
            hops_expected: None,
        };
        path_change(flow, change, &self.paths[old].path, &self.paths[new].path, &finding, 1)
    }

    /// Notes the change, and says of what kind it is as far as can be told at once.
    fn kind_of_change(
        &mut self,
        flow: FlowIndex,
        old: PathIndex,
        new: PathIndex,
        now: Nanos,
    ) -> PathChangeKind {
        let window = self.settings.flap_window();
        let entry = &mut self.flows[flow];
        entry.changed_at.rotate_right(1);
        entry.changed_at[0] = Some(now);
        if entry.flaps(now, window) {
            return PathChangeKind::Flap;
        }
        let dead_since = Nanos(now.0.saturating_sub(self.settings.reroute_after_ns));
        if self.paths.left_a_dead_link(old, new, dead_since, &self.links) {
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
            old: self.paths.share(old),
            new: self.paths.share(new),
            changed_at: finding.received_at,
            report: finding.report,
            confidence: finding.confidence,
        };
        self.flows[flow].pending = Some(pending);
        if !has_reminder {
            self.remind(finding.received_at + self.settings.reroute_after(), flow, What::Classify);
        }
    }

    /// Tells of a change of path that it was a reroute, when no flow has used the old links since.
    pub(super) fn classify(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        let entry = &mut self.flows[flow];
        let Some(pending) = entry.pending else { return };
        let due = pending.changed_at + self.settings.reroute_after();
        if due > now {
            return self.remind(due, flow, What::Classify);
        }
        entry.pending = None;
        let is_dead = self.paths.left_a_dead_link(pending.old, pending.new, pending.changed_at, &self.links);
        let change = if is_dead { PathChangeKind::Reroute } else { PathChangeKind::EcmpMove };
        let event = self.decided(self.flows[flow].flow, &pending, change);
        end_change(Event { last: now, ..event }, outbox);
        self.release_pending(&pending);
    }

    fn release_pending(&mut self, pending: &PendingChange) {
        self.paths.release(pending.old);
        self.paths.release(pending.new);
    }
}

/// Announces what a change turned out to be, where its beginning has been announced.
pub(super) fn end_change(event: Event, outbox: &mut Outbox) {
    if outbox.is_active(EventKind::PathChange, &event.key) {
        outbox.end(event);
    }
}

/// How often the path of a flow that flaps is told at most.
const FLAPPING_TOLD_EVERY: Nanos = Nanos::from_secs(1);
