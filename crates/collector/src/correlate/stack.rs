//! The path of a flow from the metadata stacks of its INT-MD packets.

use inband_model::{Confidence, Hop, Nanos, Origin, ReportReference};

use crate::detect::detector::{Crossing, SeenStack};
use crate::flows::{FlowIndex, Span};
use crate::outbox::Outbox;
use crate::paths::{Mark, Order, PathIndex};
use crate::ports::Sample;
use crate::report::{HopReading, StackState};
use crate::sighting::Sighting;

use super::finding::Finding;
use super::head::Head;
use super::{Correlator, likeness, record_hop};

impl Correlator {
    /// Handles a report with a metadata stack.
    pub(super) fn handle_stack(&mut self, flow: FlowIndex, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        if self.confirms_path(flow, sighting, outbox) {
            return;
        }
        self.record_hops(sighting, outbox);
        let stack = SeenStack { flow, sighting, is_known_path: false };
        self.detectors.handle_stack(&stack, &self.network, outbox);
        if sighting.hops.is_empty() {
            return;
        }
        if sighting.reading.stack == StackState::Intermediate {
            return self.handle_upstream(flow, sighting, outbox);
        }
        let Some(is_newer) = self.take_place(flow, sighting) else { return };
        match sighting.reading.stack {
            StackState::Whole => self.handle_whole_stack(flow, sighting, is_newer, outbox),
            StackState::Intermediate | StackState::Partial { .. } => {
                self.handle_partial_stack(flow, sighting, outbox);
            }
        }
    }

    /// The common case: the stack shows the flow's known path, and everything about it has been looked up.
    #[inline]
    fn confirms_path(&mut self, flow: FlowIndex, sighting: &Sighting<'_>, outbox: &mut Outbox) -> bool {
        let entry = &mut self.network.flows[flow];
        let Some(index) = entry.path.filter(|_| entry.stack_confirms) else { return false };
        let path = &self.network.paths[index];
        let is_whole = sighting.reading.stack == StackState::Whole;
        if !is_whole || !is_same(path.path.hops(), sighting.hops) {
            return false;
        }
        let (place, settle) = (place_of(sighting), self.network.settings.settle());
        let order =
            entry.latest.map_or(Order::Unknown, |latest| latest.order(&place, sighting.arrival, settle));
        for ((reading, port), latency) in sighting.hops.iter().zip(&path.ports).zip(&mut entry.latencies) {
            // The packet before this one is unknown if a later one has been reported.
            let before =
                if order == Order::Older { None } else { std::mem::replace(latency, reading.latency) };
            if let Some(port) = port {
                let mut sample = Sample::new(sighting, *port, reading);
                if sighting.share.has_node(reading.hop.node_id) {
                    record_hop(&mut sample, &mut self.network.ports, &mut self.detectors, outbox);
                }
                self.detectors.handle_latency(&sample, before, outbox);
            }
        }
        if sighting.hops.iter().any(|hop| hop.left_at().is_some()) {
            self.time_links(index, 0, sighting, outbox);
        }
        let entry = &mut self.network.flows[flow];
        match order {
            Order::Older => {}
            Order::TooLate if entry.trusts_clock => entry.trusts_clock = false,
            Order::Newer | Order::Unknown | Order::TooLate => {
                entry.latest = Some(place);
                entry.trusts_clock |= order == Order::Newer;
                entry.path_seen_at = sighting.now;
                self.network.touch_path(sighting.now, index);
            }
        }
        let stack = SeenStack { flow, sighting, is_known_path: true };
        self.detectors.handle_stack(&stack, &self.network, outbox);
        true
    }

    /// Records a stack as the latest of its flow; returns whether a clock confirms the order. `None` where a
    /// later packet has been reported before, so that the stack says nothing of the path.
    fn take_place(&mut self, flow: FlowIndex, sighting: &Sighting<'_>) -> Option<bool> {
        let (place, settle) = (place_of(sighting), self.network.settings.settle());
        let entry = &mut self.network.flows[flow];
        let order =
            entry.latest.map_or(Order::Unknown, |latest| latest.order(&place, sighting.arrival, settle));
        let is_too_late = order == Order::TooLate && std::mem::take(&mut entry.trusts_clock);
        if order == Order::Older || is_too_late {
            self.late_reports += 1;
            return None;
        }
        entry.latest = Some(place);
        entry.trusts_clock |= order == Order::Newer;
        Some(order == Order::Newer)
    }

    /// Whether the flow has left the path of the current hops so recently that reports of it may still be in
    /// transit.
    fn has_just_left(&self, flow: FlowIndex, now: Nanos) -> bool {
        self.network.flows[flow].past_paths.iter().rev().any(|past| {
            now.since(past.left_at) <= self.network.settings.settle()
                && self.network.paths[past.path].path.hops() == self.trail.hops()
        })
    }

    /// Handles the time the packet took over each link of a path, of which the report shows the hops from
    /// `first` on.
    fn time_links(&mut self, path: PathIndex, first: usize, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        for (place, pair) in sighting.hops.windows(2).enumerate() {
            let link = self.network.paths[path].links.get(first + place).copied().flatten();
            if let (Some(link), Some(sent_at), Some(came_at)) = (link, pair[0].left_at(), pair[1].came_at()) {
                let crossing = Crossing { link, sighting, sent_at, came_at };
                self.detectors.handle_crossing(&crossing, &self.network, outbox);
            }
        }
    }

    fn handle_whole_stack(
        &mut self,
        flow: FlowIndex,
        sighting: &Sighting<'_>,
        is_newer: bool,
        outbox: &mut Outbox,
    ) {
        self.trail.clear();
        self.trail.extend(sighting.hops);
        let stack = Stack::of(sighting, is_newer);
        let Some(head) = self.head_of(flow, stack.span, sighting.now) else {
            return self.hold_stack(flow, &stack, sighting, outbox);
        };
        self.put_before(&head);
        if self.take_stack(flow, &stack, &head, outbox) {
            self.confirm_end_of_path(flow, sighting, outbox);
        }
    }

    /// Makes the current hops, at whose end are those of a stack, the path of the flow; returns whether they
    /// have been its path before.
    pub(super) fn take_stack(
        &mut self,
        flow: FlowIndex,
        stack: &Stack,
        head: &Head,
        outbox: &mut Outbox,
    ) -> bool {
        let is_like = self.complete_trail(flow);
        let finding = self.finding(stack, true);
        // Hops that are perhaps missing before the first one cannot be counted.
        let hops_expected = finding.hops_expected.filter(|_| *head != Head::Lost);
        if self.is_path(flow) {
            let entry = &mut self.network.flows[flow];
            entry.stack_confirms = entry.path_is_whole;
            if entry.path_is_whole && entry.origin == Origin::MdStack {
                entry.hops_expected = entry.hops_expected.or(hops_expected);
            }
            return true;
        }
        if !stack.is_newer && self.has_just_left(flow, stack.now) {
            self.late_reports += 1;
            return false;
        }
        let is_same_way = is_like || self.differs_only_in_head(flow, stack, head);
        let (remaining_at_source, confidence) = match head {
            Head::Source => (stack.span.start, Confidence::Certain),
            Head::Parts { start, .. } => (*start, Confidence::Probable),
            Head::Lost => (stack.span.start, Confidence::Probable),
        };
        let finding = Finding { is_same_way, confidence, hops_expected, remaining_at_source, ..finding };
        let first_of_stack = self.trail.hops().len().checked_sub(stack.length);
        if let Some(path) = self.adopt(flow, &finding, outbox) {
            match head {
                Head::Source | Head::Lost => self.network.make_certain(path),
                Head::Parts { .. } => {
                    if let Some(first) =
                        first_of_stack.and_then(|first| self.trail.hops().get(first)).copied()
                    {
                        self.note_seam(&first);
                    }
                }
            }
        }
        false
    }

    /// Whether the current hops and the path of the flow differ only in hops before the first one, which were
    /// not known of one of them.
    fn differs_only_in_head(&self, flow: FlowIndex, stack: &Stack, head: &Head) -> bool {
        let entry = &self.network.flows[flow];
        let (known, hops) = (self.network.hops(entry), self.trail.hops());
        let (gains, loses) = (likeness::may_end(known, hops), likeness::may_end(hops, known));
        match head {
            Head::Parts { .. } => gains || loses,
            Head::Lost => loses,
            Head::Source => gains && (!entry.stack_confirms || entry.remaining_at_source < stack.span.start),
        }
    }

    /// Fills the fields that the report leaves out with those of the flow's path if that may be the same,
    /// else with those of a path that it has left; returns whether its path may be the same.
    fn complete_trail(&mut self, flow: FlowIndex) -> bool {
        let (entry, paths) = (&self.network.flows[flow], &self.network.paths);
        let mut fill_from = |path: PathIndex| self.trail.fill_from(paths[path].path.hops());
        if entry.path.is_some_and(&mut fill_from) {
            return true;
        }
        entry.past_paths.iter().rev().any(|past| fill_from(past.path));
        false
    }

    /// Reports a partial path as long as no whole stack has been seen. A partial stack says nothing of a path
    /// that is known in whole.
    pub(super) fn handle_partial_stack(
        &mut self,
        flow: FlowIndex,
        sighting: &Sighting<'_>,
        outbox: &mut Outbox,
    ) {
        let entry = &self.network.flows[flow];
        let known = entry.path.map_or(0, |path| self.network.paths[path].path.hops().len());
        if entry.path_is_whole || sighting.hops.len() < known {
            return;
        }
        self.trail.clear();
        self.trail.extend(sighting.hops);
        self.complete_trail(flow);
        if self.is_path(flow) {
            self.confirm_end_of_path(flow, sighting, outbox);
        } else {
            self.adopt(flow, &self.finding(&Stack::of(sighting, false), false), outbox);
        }
    }

    /// Confirms the last hops of the flow's path, and handles their times.
    pub(super) fn confirm_end_of_path(
        &mut self,
        flow: FlowIndex,
        sighting: &Sighting<'_>,
        outbox: &mut Outbox,
    ) {
        let entry = &mut self.network.flows[flow];
        entry.path_seen_at = sighting.now;
        let Some(path) = entry.path else { return };
        let first = entry.latencies.len().saturating_sub(sighting.hops.len());
        self.network.touch_path(sighting.now, path);
        self.handle_times(flow, path, first, sighting, outbox);
    }

    /// Handles the latencies and link times of a report that shows the hops of a path from `first` on.
    pub(super) fn handle_times(
        &mut self,
        flow: FlowIndex,
        path: PathIndex,
        first: usize,
        sighting: &Sighting<'_>,
        outbox: &mut Outbox,
    ) {
        let latencies = &mut self.network.flows[flow].latencies;
        let ports = &self.network.paths[path].ports;
        let known = latencies.iter_mut().zip(ports).skip(first);
        for (reading, (latency, port)) in sighting.hops.iter().zip(known) {
            let before = std::mem::replace(latency, reading.latency);
            if let Some(port) = port {
                self.detectors.handle_latency(&Sample::new(sighting, *port, reading), before, outbox);
            }
        }
        self.time_links(path, first, sighting, outbox);
    }

    /// What the stack shows with the current hops.
    pub(super) fn finding(&self, stack: &Stack, is_whole: bool) -> Finding {
        let hops = u8::try_from(self.trail.hops().len()).unwrap_or(u8::MAX);
        Finding {
            received_at: stack.now,
            report: stack.report,
            origin: stack.origin,
            confidence: Confidence::Certain,
            is_whole,
            is_same_way: false,
            hops_expected: is_whole.then_some(hops),
            remaining_at_source: stack.span.start,
        }
    }

    /// Whether the current hops are the path of the flow.
    pub(super) fn is_path(&self, flow: FlowIndex) -> bool {
        self.network.flows[flow]
            .path
            .is_some_and(|path| self.network.paths[path].path.hops() == self.trail.hops())
    }
}

/// What is known of a stack apart from its hops.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stack {
    pub(super) now: Nanos,
    /// The report of the sink.
    pub(super) report: ReportReference,
    pub(super) origin: Origin,
    /// Whether a clock confirms that its packet was later than those before.
    pub(super) is_newer: bool,
    /// Number of its hops.
    pub(super) length: usize,
    pub(super) span: Span,
}

impl Stack {
    pub(super) fn of(sighting: &Sighting<'_>, is_newer: bool) -> Self {
        let length = sighting.hops.len();
        Self {
            now: sighting.now,
            report: sighting.report,
            origin: sighting.reading.origin,
            is_newer,
            length,
            span: Span::new(sighting.reading.remaining_at_start, length),
        }
    }
}

#[inline]
pub(super) fn place_of(sighting: &Sighting<'_>) -> Mark {
    Mark::new(sighting.report, sighting.session.port(), sighting.hops)
}

#[inline]
fn is_same(hops: &[Hop], readings: &[HopReading]) -> bool {
    hops.len() == readings.len() && hops.iter().zip(readings).all(|(hop, reading)| *hop == reading.hop)
}
