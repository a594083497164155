//! Paths whose first part a transit hop reports: it removes the stack so far from the packet, and the sink
//! reports the rest.

use inband_model::{Hop, Nanos, NodeId, Origin};

use crate::flows::{FlowEntry, FlowIndex, HeldStack, MAX_PARTS, Part, Span};
use crate::outbox::Outbox;
use crate::paths::{Order, PathIndex, PathTable};
use crate::sighting::Sighting;

use super::head::Head;
use super::stack::{Stack, place_of};
use super::{Correlator, What, likeness};

impl Correlator {
    /// Keeps the hops reported by a transit hop, to put them before those from the sink. This is never a
    /// change of path: the packet went on.
    pub(super) fn handle_upstream(&mut self, flow: FlowIndex, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        let (latest, settle) = (place_of(sighting), self.network.settings.settle());
        let reporter = sighting.report.node_id;
        self.trail.clear();
        self.trail.extend(sighting.hops);
        let upstream = self.network.flows[flow].upstream.as_deref();
        let known = upstream.and_then(|upstream| upstream.of(reporter)).copied();
        if let Some(known) = known {
            if known.latest.order(&latest, sighting.arrival, settle) == Order::Older {
                return self.late_reports += 1;
            }
            self.trail.fill_from(self.network.paths[known.path].path.hops());
        }
        let Some(path) = self.network.acquire_path(sighting.now, self.trail.hops()) else { return };
        let span = Span::new(sighting.reading.remaining_at_start, sighting.hops.len());
        let part = Part { path, reporter, seen_at: sighting.now, latest, span };
        if known.is_some_and(|known| known.path == path && known.span != span) {
            // The maximum at the source was changed.
            self.network.flows[flow].remaining_at_source = None;
        }
        self.keep_part(flow, part);
        self.end_hold(flow, sighting, outbox);
        self.doubt_path(flow, &part, sighting, outbox);
        self.handle_times_of_part(flow, path, sighting, outbox);
        self.handle_partial_stack(flow, sighting, outbox);
    }

    /// What comes before the current hops, which are those of a stack of this span; `None` where reports on
    /// hops before it may still arrive.
    pub(super) fn head_of(&self, flow: FlowIndex, span: Span, now: Nanos) -> Option<Head> {
        let (entry, settings) = (&self.network.flows[flow], &self.network.settings);
        let hops = self.trail.hops();
        let parts = entry.upstream.as_ref().map_or(&[][..], |upstream| &upstream.parts);
        let forgotten_after = Nanos::from_secs(settings.flow_idle_s) + settings.keep();
        let is_since = |part: &&Part, span: Nanos| now.since(part.seen_at) <= span;
        let has_parts = parts.iter().any(|part| is_since(&part, forgotten_after));
        let source = remaining_at_source(entry);

        let is_before = |part: &&Part| {
            (parts.len() == 1 || !part.span.reaches_into(span))
                && shares_no_node(self.network.paths[part.path].path.hops(), hops)
        };
        let before = || parts.iter().filter(|part| is_since(part, forgotten_after)).filter(is_before);
        if before().next().is_some() {
            let fresh = || before().filter(|part| is_since(part, settings.keep()));
            let first = fresh().next()?;
            let next = fresh().skip(1).map(|part| part.span).chain([span]);
            let has_gap = fresh().zip(next).any(|(part, next)| part.span.has_gap_before(next));
            if has_gap || source.has_gap_before(first.span) {
                return None;
            }
            let mut paths = [None; MAX_PARTS];
            paths.iter_mut().zip(fresh()).for_each(|(path, part)| *path = Some(part.path));
            return Some(Head::Parts { paths, start: first.span.start });
        }

        let known = self.network.hops(entry);
        let is_at_source = known.first().zip(hops.first()).is_some_and(|(known, first)| {
            first.node_id != NodeId::NOT_AVAILABLE && known.node_id == first.node_id
        });
        let is_short = source.has_gap_before(span) && !is_at_source;
        let is_end = entry.path_is_whole && hops.len() < known.len() && likeness::may_end(hops, known);
        let is_at_seam = !entry.path_is_whole && hops.first().is_some_and(|first| self.is_seam(first));
        let may_be_short = has_parts && (is_short || is_end) || is_short && is_end || is_at_seam;
        (!may_be_short).then_some(Head::Source)
    }

    /// Puts the parts of a path before the current hops.
    pub(super) fn put_before(&mut self, head: &Head) {
        if let Head::Parts { paths, .. } = head {
            for path in paths.iter().rev().flatten() {
                self.trail.put_before(self.network.paths[*path].path.hops());
            }
        }
    }

    /// Holds a stack, whose hops are the current ones, until the hops before it have been reported. If it is
    /// the end of the flow's path, it confirms that.
    pub(super) fn hold_stack(
        &mut self,
        flow: FlowIndex,
        stack: &Stack,
        sighting: &Sighting<'_>,
        outbox: &mut Outbox,
    ) {
        let entry = &self.network.flows[flow];
        let known = self.network.hops(entry);
        let first = known.len().checked_sub(sighting.hops.len()).filter(|_| entry.path_is_whole);
        let is_end = first.is_some_and(|first| self.trail.fill_from(&known[first..]));
        let Some(path) = self.network.acquire_path(sighting.now, self.trail.hops()) else { return };
        let upstream = self.network.flows[flow].upstream.get_or_insert_default();
        let due = upstream.held.as_ref().map(|held| held.due).filter(|due| *due > sighting.now);
        let due = due.unwrap_or_else(|| sighting.now + self.network.settings.settle());
        let has_reminder = upstream.reminder_at.is_some_and(|at| at > sighting.now);
        let held = HeldStack {
            path,
            latencies: self.trail.latencies().into(),
            report: stack.report,
            origin: stack.origin,
            is_newer: stack.is_newer,
            span: stack.span,
            due,
        };
        if let Some(before) = upstream.held.replace(held) {
            self.network.paths.release(before.path);
        }
        if !has_reminder {
            upstream.reminder_at = Some(due);
            self.remind(due, flow, What::EndHold);
        }
        if is_end {
            self.confirm_end_of_path(flow, sighting, outbox);
        }
    }

    /// Takes the stack that waited for the hops before it, after none were reported in time.
    pub(super) fn give_up_hold(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        let Some(upstream) = self.network.flows[flow].upstream.as_deref_mut() else { return };
        upstream.reminder_at = upstream.held.as_ref().map(|held| held.due).filter(|due| *due > now);
        if let Some(due) = upstream.reminder_at {
            // Another stack has taken the place of the one that the reminder was for.
            return self.remind(due, flow, What::EndHold);
        }
        let Some(held) = upstream.held.take() else { return };
        self.recall(&held);
        let stack = Stack::held(&held, now);
        let entry = &self.network.flows[flow];
        if remaining_at_source(entry).has_gap_before(held.span) {
            // Hops are certainly missing, and those seen say nothing of them.
            let known = self.network.hops(entry).len();
            if !entry.path_is_whole && self.trail.hops().len() > known {
                self.adopt(flow, &self.finding(&stack, false), outbox);
            }
        } else {
            self.take_stack(flow, &stack, &Head::Lost, outbox);
            self.forget_parts(flow);
        }
        self.network.paths.release(held.path);
    }

    /// Joins the stack that waits with the parts reported so far, if none is missing.
    fn end_hold(&mut self, flow: FlowIndex, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        let (now, settle) = (sighting.now, self.network.settings.settle());
        let Some(upstream) = self.network.flows[flow].upstream.as_deref_mut() else { return };
        let is_recent = |held: &mut HeldStack| now.since(held.report.received_at) <= settle;
        let Some(held) = upstream.held.take_if(is_recent) else { return };
        self.recall(&held);
        let Some(head) = self.head_of(flow, held.span, now) else {
            if let Some(upstream) = self.network.flows[flow].upstream.as_deref_mut() {
                upstream.held = Some(held);
            }
            return;
        };
        self.put_before(&head);
        self.take_stack(flow, &Stack::held(&held, now), &head, outbox);
        self.network.paths.release(held.path);
    }

    /// Handles a part that has nothing in common with the flow's path, which may be just the rest: the sink's
    /// report came first.
    fn doubt_path(&mut self, flow: FlowIndex, part: &Part, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        let (now, entry) = (sighting.now, &self.network.flows[flow]);
        let is_stack = entry.path_is_whole && entry.origin == Origin::MdStack;
        let Some(path) = entry.path.filter(|_| is_stack) else { return };
        let hops = self.network.paths[path].path.hops();
        if !shares_no_node(self.network.paths[part.path].path.hops(), hops) {
            return;
        }
        let span = Span::new(entry.remaining_at_source, hops.len());
        let is_recent = now.since(entry.path_seen_at) <= self.network.settings.settle();
        if is_recent && span.start.is_some() && span.start == part.span.end {
            self.trail.set(hops, &entry.latencies);
            if let Some(head @ Head::Parts { .. }) = self.head_of(flow, span, now) {
                let length = self.trail.hops().len();
                self.put_before(&head);
                let stack = Stack { is_newer: true, length, span, ..Stack::of(sighting, true) };
                self.take_stack(flow, &stack, &head, outbox);
                return;
            }
        }
        let entry = &mut self.network.flows[flow];
        entry.stack_confirms = false;
        entry.hops_expected = None;
    }

    /// Handles the times in the report of a transit hop, if its hops are on the flow's path.
    fn handle_times_of_part(
        &mut self,
        flow: FlowIndex,
        part: PathIndex,
        sighting: &Sighting<'_>,
        outbox: &mut Outbox,
    ) {
        let entry = &self.network.flows[flow];
        let Some(path) = entry.path else { return };
        let (hops, part) = (self.network.hops(entry), self.network.paths[part].path.hops());
        // A partial path of just these hops is confirmed elsewhere.
        let is_more = entry.path_is_whole || hops.len() > part.len();
        let first = hops.windows(part.len()).position(|hops| likeness::may_be(hops, part));
        if let Some(first) = first.filter(|_| is_more) {
            self.handle_times(flow, path, first, sighting, outbox);
        }
    }

    /// Keeps a part in the place of those that it contradicts.
    fn keep_part(&mut self, flow: FlowIndex, part: Part) {
        let paths = &mut self.network.paths;
        let upstream = self.network.flows[flow].upstream.get_or_insert_default();
        while let Some(place) = upstream.parts.iter().position(|known| is_replaced(known, &part, paths)) {
            paths.release(upstream.parts.remove(place).path);
        }
        if upstream.parts.len() >= MAX_PARTS {
            let oldest = (0..upstream.parts.len()).min_by_key(|place| upstream.parts[*place].seen_at);
            if let Some(oldest) = oldest {
                paths.release(upstream.parts.remove(oldest).path);
            }
        }
        upstream.insert(part);
    }

    fn forget_parts(&mut self, flow: FlowIndex) {
        if let Some(upstream) = self.network.flows[flow].upstream.as_deref_mut() {
            for part in upstream.parts.drain(..) {
                self.network.paths.release(part.path);
            }
        }
    }

    /// Makes the hops of a held stack the current ones.
    fn recall(&mut self, held: &HeldStack) {
        self.trail.set(self.network.paths[held.path].path.hops(), &held.latencies);
    }

    /// Records that the stacks of sinks may begin in the middle of a path, with this hop.
    pub(super) fn note_seam(&mut self, first: &Hop) {
        if let Some(ingress) = first.ingress_interface
            && self.seams.len() < MAX_SEAMS
        {
            self.seams.insert((first.node_id, ingress));
        }
    }

    fn is_seam(&self, first: &Hop) -> bool {
        let ingress = first.ingress_interface.filter(|_| !self.seams.is_empty());
        ingress.is_some_and(|ingress| self.seams.contains(&(first.node_id, ingress)))
    }
}

impl Stack {
    /// What is known of a held stack, which shows a path only now.
    fn held(held: &HeldStack, now: Nanos) -> Self {
        let HeldStack { report, origin, is_newer, span, .. } = *held;
        Self { now, report, origin, is_newer, length: held.latencies.len(), span }
    }
}

/// Remaining Hop Count of the flow's packets when they leave the source's INT, as far as stacks have shown.
fn remaining_at_source(entry: &FlowEntry) -> Span {
    let first = entry.upstream.as_ref().and_then(|upstream| upstream.parts.first());
    let remaining = entry.remaining_at_source.max(first.and_then(|part| part.span.start));
    Span { start: remaining, end: remaining }
}

/// Whether a part is outdated by a new one: it is of the same reporter, or both cannot be on one path.
fn is_replaced(known: &Part, new: &Part, paths: &PathTable) -> bool {
    let hops = |part: &Part| paths[part.path].path.hops();
    known.reporter == new.reporter
        || !(known.span.is_before(new.span) || new.span.is_before(known.span))
        || !shares_no_node(hops(known), hops(new))
}

/// Whether no node is in both lists; a list without any node id shows nothing.
fn shares_no_node(one: &[Hop], other: &[Hop]) -> bool {
    let named = |hop: &&Hop| hop.node_id != NodeId::NOT_AVAILABLE;
    one.iter().any(|hop| named(&hop))
        && other.iter().any(|hop| named(&hop))
        && one.iter().filter(named).all(|hop| other.iter().all(|other| other.node_id != hop.node_id))
}

/// Maximum number of interfaces at which stacks are known to begin in the middle of a path.
const MAX_SEAMS: usize = 4096;
