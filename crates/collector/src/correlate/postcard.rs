//! The path of a flow from the reports of several nodes on it, in MX and XD mode.

use inband_model::{Confidence, Hop, Nanos, NodeId, Origin, ReportReference};

use crate::detect::detector::{Crossing, SeenStack, Stop, StopPhase};
use crate::flows::{FlowEntry, FlowIndex, Unsettled};
use crate::outbox::Outbox;
use crate::paths::{
    Change, Conclusion, Evidence, LinkIndex, Mark, Ordered, PathIndex, Postcard, Put, Sighted, conclude,
};
use crate::ports::Sample;
use crate::report::{HopReading, StackState};
use crate::sighting::Sighting;

use super::finding::Finding;
use super::{Correlator, What};

impl Correlator {
    /// Handles the report of one node in MX or XD mode. Such reports usually concern different packets, so
    /// together they describe a state, which is given time to settle.
    pub(super) fn handle_postcard(&mut self, flow: FlowIndex, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        let reading = sighting.reading;
        let Some(hop) = sighting.hops.first() else { return };
        let postcard = SeenStack { flow, sighting, is_known_path: false };
        self.detectors.handle_postcard(&postcard, &self.network, outbox);
        // A report of only a drop or a queue need not come from the path of the flow, and one of a packet
        // whose stack cannot be read comes from a sink.
        let tells_path = reading.tracked_flow && !reading.dropped && reading.stack == StackState::Whole;
        if !tells_path {
            return;
        }
        let (now, settle) = (sighting.now, self.network.settings.settle());
        let entry = &mut self.network.flows[flow];
        if follows_stacks(entry, now, self.network.settings.keep()) {
            return entry.postcards.clear();
        }
        let sighted = Sighted {
            now,
            reading: hop,
            ttl: reading.ttl,
            identity: reading.identity,
            mark: Mark::new(sighting.report, sighting.session.port(), &sighting.hops[..1]),
            arrival: sighting.arrival,
        };
        let put = entry.postcards.put(&sighted, settle);
        match put {
            Put::Late => return self.late_reports += 1,
            Put::NoRoom => return self.unplaced_nodes += 1,
            Put::Same | Put::Joined | Put::Moved => {}
        }
        let silent_since = entry.postcards.expire(now, self.network.settings.keep(), settle);
        entry.postcards.set_last(sighting.report, reading.origin);
        self.confirm_hop(flow, hop, put == Put::Same && silent_since.is_none(), sighting, outbox);
        let remaining = silent_since.and_then(|silent_since| {
            let conclusion = self.conclude_all(flow)?;
            self.fill_trail(&conclusion);
            self.suspect_link(flow, now, silent_since, outbox);
            Some(conclusion)
        });

        let entry = &mut self.network.flows[flow];
        match &mut entry.unsettled {
            None if put != Put::Same => {
                let due = self.network.settings.settling_ends(now, entry.path.is_none())[0];
                entry.unsettled = Some(Unsettled { since: now, due, tried_at: now });
                self.remind(due, flow, What::Settle);
            }
            None => {
                if let Some(conclusion) = remaining {
                    self.take_conclusion(flow, &conclusion, now, outbox);
                }
            }
            // A detour before the path settled: nodes silent from here on may have been replaced.
            Some(unsettled) if put == Put::Moved && entry.path.is_none() => unsettled.since = now,
            Some(unsettled) if put != Put::Same || now.since(unsettled.tried_at) >= TRY_EVERY => {
                self.try_to_settle(flow, now, outbox);
            }
            Some(_) => {}
        }
    }

    /// Handles the measurements of a node on the flow's path; where it `is_like_before`, the path is
    /// confirmed.
    fn confirm_hop(
        &mut self,
        flow: FlowIndex,
        hop: &HopReading,
        is_like_before: bool,
        sighting: &Sighting<'_>,
        outbox: &mut Outbox,
    ) {
        let entry = &mut self.network.flows[flow];
        let Some(path) = entry.path else { return };
        let place =
            self.network.paths[path].path.hops().iter().position(|known| known.node_id == hop.hop.node_id);
        if let Some(place) = place
            && let Some(latency) = entry.latencies.get_mut(place)
        {
            let before = std::mem::replace(latency, hop.latency.or(*latency));
            if let Some(port) = self.network.paths[path].ports.get(place).copied().flatten() {
                self.detectors.handle_latency(&Sample::new(sighting, port, hop), before, outbox);
            }
            self.time_link_before(flow, path, place, sighting, outbox);
        }
        let entry = &mut self.network.flows[flow];
        if is_like_before && entry.unsettled.is_none() {
            entry.path_seen_at = sighting.now;
            self.network.touch_path(sighting.now, path);
            self.confirm_stop(flow, hop.hop.node_id, sighting.report, outbox);
        }
    }

    /// Checks a flow that has had some time to settle.
    pub(super) fn settle(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        let entry = &mut self.network.flows[flow];
        let Some(Unsettled { since, due, .. }) = entry.unsettled.filter(|unsettled| unsettled.due <= now)
        else {
            return;
        };
        self.try_to_settle(flow, now, outbox);
        let entry = &mut self.network.flows[flow];
        if let Some(unsettled) = &mut entry.unsettled {
            let ends = self.network.settings.settling_ends(unsettled.since, entry.path.is_none());
            let next = ends.into_iter().find(|end| *end > now);
            // Nothing orders the hops yet; links learned from other flows may do so later.
            let is_heard = entry.postcards.last().is_some_and(|(report, _)| report.received_at > since);
            let again = is_heard.then(|| now.max(due) + self.network.settings.keep());
            match next.or(again) {
                Some(due) => {
                    unsettled.due = due;
                    unsettled.since = next.map_or(now, |_| since);
                    self.remind(due, flow, What::Settle);
                }
                None => entry.unsettled = None,
            }
        }
    }

    /// Concludes the path from the reports of all nodes, if they have had time to arrive.
    fn try_to_settle(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        let entry = &mut self.network.flows[flow];
        let Some(unsettled) = &mut entry.unsettled else { return };
        unsettled.tried_at = now;
        let since = unsettled.since;
        if follows_stacks(entry, now, self.network.settings.keep()) {
            entry.unsettled = None;
            return entry.postcards.clear();
        }
        let is_new = entry.path.is_none();
        let [first, last] = self.network.settings.settling_ends(since, is_new);
        if now < first {
            return;
        }
        let conclusion = self.conclude(flow, since, now >= last);
        if !conclusion.is_doubtful || (now >= last && conclusion.ordered != Ordered::No) {
            self.network.flows[flow].unsettled = None;
            self.take_conclusion(flow, &conclusion, since, outbox);
        } else if now >= last && !is_new {
            // The nodes contradict each other, so the previous path remains the best known.
            self.network.flows[flow].unsettled = None;
        }
    }

    /// Concludes the path without the nodes that have fallen silent; `None` where nothing orders the others.
    fn conclude_all(&self, flow: FlowIndex) -> Option<Conclusion> {
        let cards = self.network.flows[flow].postcards.cards().copied().collect();
        let conclusion = Conclusion::of_all(cards, self.evidence());
        (conclusion.ordered != Ordered::No).then_some(conclusion)
    }

    fn conclude(&self, flow: FlowIndex, since: Nanos, is_over: bool) -> Conclusion {
        let entry = &self.network.flows[flow];
        let known = entry.path.map_or(&[][..], |path| self.network.paths[path].path.hops());
        let change = Change { known, since, settle: self.network.settings.settle(), is_over };
        conclude(entry.postcards.cards().copied().collect(), change, self.evidence())
    }

    /// Makes the conclusion the path of the flow.
    fn take_conclusion(
        &mut self,
        flow: FlowIndex,
        conclusion: &Conclusion,
        since: Nanos,
        outbox: &mut Outbox,
    ) {
        self.fill_trail(conclusion);
        let entry = &mut self.network.flows[flow];
        let Some((report, origin)) = entry.postcards.last() else { return };
        let known = entry.path.map_or(&[][..], |path| self.network.paths[path].path.hops());
        let is_same_way = goes_the_same_way(known, &conclusion.cards);
        entry.postcards.settle(&conclusion.cards, since);
        if self.is_path(flow) || self.trail.hops().is_empty() {
            return;
        }
        let finding = Finding {
            received_at: report.received_at,
            report,
            origin,
            confidence: Confidence::Probable,
            is_whole: true,
            is_same_way,
            hops_expected: self.hops_expected(conclusion),
            remaining_at_source: None,
        };
        let adopted = self.adopt(flow, &finding, outbox);
        if let Some(path) = adopted.filter(|_| fall_by_one(&conclusion.cards)) {
            self.network.make_certain(path);
        }
    }

    fn fill_trail(&mut self, conclusion: &Conclusion) {
        self.trail.clear();
        for card in &conclusion.cards {
            self.trail.push(card.hop, card.latency);
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            topology: &self.network.topology,
            links: &self.network.links,
            synchronous_clocks: self.network.settings.synchronous_clocks,
        }
    }

    /// Expected number of hops: by the topology, or by the fall of the TTL from the first to the last hop
    /// seen. `None` where it is unknown whether hops are missing, as where a known link goes on at an end.
    fn hops_expected(&self, conclusion: &Conclusion) -> Option<u8> {
        let cards = &conclusion.cards;
        let (first, last) = (cards.first()?, cards.last()?);
        let count = u8::try_from(cards.len()).ok();
        if self.network.links_go_on(&first.hop, &last.hop) {
            return None;
        }
        let is_linked =
            |pair: &[Postcard]| self.network.topology.connects(&pair[0].hop, &pair[1].hop) == Some(true);
        match self.network.topology.goes_on(&first.hop, &last.hop) {
            Some(true) => return None,
            Some(false) if cards.windows(2).all(is_linked) => return count,
            Some(false) | None => {}
        }
        if cards.len() == 1 {
            // Only edges show that a single node has nothing before or behind it.
            return count.filter(|_| !self.network.settings.edges.is_empty());
        }
        let falls = |pair: &[Postcard]| pair[0].ttl.zip(pair[1].ttl).is_some_and(|(from, to)| from > to);
        if cards.windows(2).all(falls) {
            let by_ttl = usize::from(first.ttl?.checked_sub(last.ttl?)?) + 1;
            return u8::try_from(by_ttl).ok();
        }
        count.filter(|_| conclusion.ordered == Ordered::ByLinks)
    }

    /// Records that a flow ends at a link: the nodes before it report the flow as before, and those behind it
    /// report nothing, not even drops of its packets.
    fn suspect_link(&mut self, flow: FlowIndex, now: Nanos, silent_since: Nanos, outbox: &mut Outbox) {
        let entry = &self.network.flows[flow];
        let Some(old) = entry.path.filter(|_| entry.origin != Origin::MdStack) else { return };
        let (old, new) = (self.network.paths[old].path.hops(), self.trail.hops());
        let Some((last, missing)) = new.last().zip(old.get(new.len())) else { return };
        let is_dropped =
            entry.dropped_at.is_some_and(|at| at + self.network.settings.settle() >= silent_since);
        if !old.starts_with(new) || is_dropped {
            return;
        }
        let Some(link) = self.network.links.find(last, missing) else { return };
        let Some(report) = entry.postcards.of(last.node_id).map(Postcard::report) else { return };
        self.network.flows[flow].stopped_at = Some(link);
        let stop = self.stop(flow, link, StopPhase::Begins { silent_since }, report);
        self.detectors.handle_stop(&Stop { noticed_at: now, ..stop }, outbox);
    }

    /// Records that a flow still ends at a link, if the report is of the node before it.
    fn confirm_stop(
        &mut self,
        flow: FlowIndex,
        node_id: NodeId,
        report: ReportReference,
        outbox: &mut Outbox,
    ) {
        let Some(link) = self.network.flows[flow].stopped_at else { return };
        let stop = self.stop(flow, link, StopPhase::GoesOn, report);
        if stop.ends.from == node_id {
            self.detectors.handle_stop(&stop, outbox);
        }
    }

    /// Records that a flow passes the link again at which it ended; a new path elsewhere shows nothing of the
    /// link.
    pub(super) fn note_resumption(
        &mut self,
        flow: FlowIndex,
        path: PathIndex,
        report: ReportReference,
        outbox: &mut Outbox,
    ) {
        let Some(link) = self.network.flows[flow].stopped_at else { return };
        let slot = &self.network.paths[path];
        let last = slot.path.hops().last().map(|hop| hop.node_id);
        let passes = slot.links.contains(&Some(link));
        if !passes && last == Some(self.network.links.ends(link).from) {
            return;
        }
        self.network.flows[flow].stopped_at = None;
        if passes {
            let stop = self.stop(flow, link, StopPhase::Over, report);
            self.detectors.handle_stop(&stop, outbox);
        }
    }

    /// What a report shows of a flow and the link at which it ends.
    fn stop(&self, flow: FlowIndex, link: LinkIndex, phase: StopPhase, report: ReportReference) -> Stop {
        let (ends, flow) = (self.network.links.ends(link), self.network.flows[flow].flow);
        Stop { link, ends, flow, noticed_at: report.received_at, phase, report }
    }

    /// Handles the time a packet took over the link to the node that reports it, if the node before reported
    /// the same packet.
    fn time_link_before(
        &mut self,
        flow: FlowIndex,
        path: PathIndex,
        place: usize,
        sighting: &Sighting<'_>,
        outbox: &mut Outbox,
    ) {
        let Some(identity) = sighting.reading.identity else { return };
        let Some(before) = place.checked_sub(1) else { return };
        let slot = &self.network.paths[path];
        let (Some(link), Some(hop)) =
            (slot.links.get(before).copied().flatten(), slot.path.hops().get(before))
        else {
            return;
        };
        let card =
            self.network.flows[flow].postcards.of(hop.node_id).filter(|card| card.identity == Some(identity));
        let came_at = sighting.hops.first().and_then(HopReading::came_at);
        if let Some((sent_at, came_at)) = card.and_then(|card| card.left_at).zip(came_at) {
            let crossing = Crossing { link, sighting, sent_at, came_at };
            self.detectors.handle_crossing(&crossing, &self.network, outbox);
        }
    }
}

/// Minimum interval between checks of the reports of an unsettled flow.
const TRY_EVERY: Nanos = Nanos::from_millis(20);

/// Whether whole stacks show the path of the flow, so that single reports are not needed.
fn follows_stacks(entry: &FlowEntry, now: Nanos, keep: Nanos) -> bool {
    let has_path = entry.path.is_some() && entry.origin == Origin::MdStack;
    has_path && now.since(entry.path_seen_at) <= keep
}

/// Whether two paths differ only in the nodes that report: neither has a hop that the other contradicts, and
/// packets pass as many routers between the hops of both.
fn goes_the_same_way(known: &[Hop], cards: &[Postcard]) -> bool {
    let hops: Vec<Hop> = cards.iter().map(|card| card.hop).collect();
    let is_part = |part: &[Hop], whole: &[Hop]| {
        let mut rest = whole.iter();
        part.iter().all(|hop| rest.any(|other| other == hop))
    };
    let mut shifts = cards.iter().filter_map(|card| {
        let (before, now) = card.settled_ttl.zip(card.ttl)?;
        Some(i16::from(before) - i16::from(now))
    });
    let shift = shifts.next();
    (is_part(known, &hops) || is_part(&hops, known)) && shifts.all(|other| Some(other) == shift)
}

/// Whether the TTL falls by one from each hop to the next, so that no other router is between them.
fn fall_by_one(cards: &[Postcard]) -> bool {
    cards.windows(2).all(|pair| match (pair[0].ttl, pair[1].ttl) {
        (Some(first), Some(second)) => first.checked_sub(1) == Some(second),
        _ => false,
    })
}
