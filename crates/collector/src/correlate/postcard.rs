//! What do the reports of several nodes on a flow say about its path?

use inband_model::{Confidence, Event, Nanos, Origin};

use crate::flows::{FlowEntry, FlowIndex};
use crate::outbox::Outbox;
use crate::paths::{PathIndex, Postcard, Put, order};
use crate::report::{HopReading, StackState};
use crate::silent::Stopped;

use super::change::Finding;
use super::{Correlator, Sighting, What, loops};

impl Correlator {
    /// Takes in the report of one node in MX or XD mode. Such reports usually tell of different packets, so
    /// what they say together is a state, and is given time to settle.
    pub(super) fn handle_postcard(&mut self, flow: FlowIndex, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        let reading = sighting.reading;
        let Some(hop) = sighting.hops.first() else { return };
        self.detect_return(flow, sighting, outbox);
        let entry = &mut self.flows[flow];
        // A report of a drop or of a queue alone need not come from where the flow passes, and that of a packet
        // whose stack cannot be read comes from a sink.
        let tells_path = reading.tracked_flow && !reading.dropped && reading.stack == StackState::Whole;
        if !tells_path || sighting.is_overtaken() {
            return;
        }
        if follows_stacks(entry, sighting.now, self.settings.keep()) {
            return entry.postcards.clear();
        }
        let has_expired = entry.postcards.expire(sighting.now, self.settings.keep());
        let put = entry.postcards.put(sighting.now, hop, reading.ttl, reading.identity);
        let has_changed = put != Put::Same;
        entry.postcards.set_last(sighting.report, reading.origin);
        if let Some(path) = entry.path {
            let place =
                self.paths[path].path.hops().iter().position(|known| known.node_id == hop.hop.node_id);
            if let Some(place) = place
                && let Some(latency) = entry.latencies.get_mut(place)
            {
                let before = std::mem::replace(latency, hop.latency.or(*latency));
                if let Some(port) = self.paths[path].ports.get(place).copied().flatten() {
                    self.ports.compare(port, &sighting.sample(hop), before, outbox);
                }
                self.time_link_before(flow, path, place, sighting, outbox);
            }
            let entry = &mut self.flows[flow];
            if !has_changed && !has_expired && entry.unsettled_since.is_none() {
                entry.path_seen_at = sighting.now;
                self.paths.touch(sighting.now, path, self.settings.link_resolution(), &mut self.links);
            }
        }
        let entry = &mut self.flows[flow];
        if (has_changed || has_expired) && entry.unsettled_since.is_none() {
            entry.unsettled_since = Some(sighting.now);
            self.remind(sighting.now + self.settings.settle(), flow, What::Settle);
        } else if put == Put::Moved {
            // A detour before the path had settled: who is silent from here on may have been replaced.
            entry.unsettled_since = Some(sighting.now);
        }
    }

    /// Concludes the path from the reports of all nodes, after they have had time to arrive.
    pub(super) fn settle(&mut self, flow: FlowIndex, now: Nanos, outbox: &mut Outbox) {
        let entry = &mut self.flows[flow];
        let Some(since) = entry.unsettled_since.take() else { return };
        if follows_stacks(entry, now, self.settings.keep()) {
            return entry.postcards.clear();
        }
        entry.postcards.drop_replaced(since);
        let Some((report, origin)) = entry.postcards.last() else { return };
        let mut cards: Vec<Postcard> = entry.postcards.cards().to_vec();
        order(&mut cards, &self.links, self.settings.synchronous_clocks);
        self.trail.clear();
        for card in &cards {
            self.trail.push(card.hop, card.latency);
        }
        if self.is_path(flow) {
            return;
        }
        let finding = Finding {
            received_at: report.received_at,
            report,
            origin,
            confidence: Confidence::Probable,
            is_whole: true,
            hops_expected: hops_expected(&cards),
        };
        self.suspect_link(flow, now, now.since(since), &finding, outbox);
        let adopted = self.adopt(flow, &finding, outbox);
        if let Some(path) = adopted.filter(|_| fall_by_one(&cards)) {
            self.paths.make_certain(path, &mut self.links);
        }
    }

    /// Notes that a flow ends at a link: the nodes before it report the flow as before, and those behind it do not.
    fn suspect_link(
        &mut self,
        flow: FlowIndex,
        now: Nanos,
        settled_for: Nanos,
        finding: &Finding,
        outbox: &mut Outbox,
    ) {
        let entry = &self.flows[flow];
        let Some(old) = entry.path.filter(|_| entry.origin != Origin::MdStack) else { return };
        let (old, new) = (self.paths[old].path.hops(), self.trail.hops());
        let Some((last, missing)) = new.last().zip(old.get(new.len())) else { return };
        if !old.starts_with(new) {
            return;
        }
        let Some(link) = self.links.find(last, missing) else { return };
        let silent_for = self.settings.keep() + settled_for;
        let stopped = Stopped { flow: entry.flow, noticed_at: now, silent_for, report: finding.report };
        self.silent_losses.record(link, self.links.ends(link), stopped, outbox);
    }

    /// Takes in how long a packet was on the link to the node that reports it, where the node before reported the
    /// same packet.
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
        let slot = &self.paths[path];
        let (Some(link), Some(hop)) =
            (slot.links.get(before).copied().flatten(), slot.path.hops().get(before))
        else {
            return;
        };
        let card = self.flows[flow].postcards.of(hop.node_id).filter(|card| card.identity == Some(identity));
        let came_at = sighting.hops.first().and_then(HopReading::came_at);
        if let Some((sent_at, came_at)) = card.and_then(|card| card.left_at).zip(came_at) {
            self.time_link(link, sighting, (sent_at, came_at), outbox);
        }
    }

    /// Announces that the same packet has come to a node again.
    fn detect_return(&mut self, flow: FlowIndex, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        let entry = &mut self.flows[flow];
        let course = self.loop_settings.course();
        let Some(known) = entry.postcards.of(sighting.report.node_id) else { return };
        if let Some(found) = loops::came_again(known, sighting)
            && let Some(count) = entry.loops.take(sighting.now, course)
        {
            outbox.begin(Event { count, ..found.event(entry.flow, sighting) }, course);
        }
    }
}

/// Whether whole stacks tell the path of the flow, so that single reports need not.
fn follows_stacks(entry: &FlowEntry, now: Nanos, keep: Nanos) -> bool {
    let has_path = entry.path.is_some() && entry.origin == Origin::MdStack;
    has_path && now.since(entry.path_seen_at) <= keep
}

/// Hops from the first to the last that was seen, by how far the TTL fell; `None` where a node left it out.
fn hops_expected(cards: &[Postcard]) -> Option<u8> {
    let (first, last) = (cards.first()?.ttl?, cards.last()?.ttl?);
    let by_ttl = usize::from(first.checked_sub(last)?) + 1;
    u8::try_from(by_ttl.max(cards.len())).ok()
}

/// Whether each hop sees the packet with a TTL of one less, so that no other router stands between them.
fn fall_by_one(cards: &[Postcard]) -> bool {
    cards.windows(2).all(|pair| match (pair[0].ttl, pair[1].ttl) {
        (Some(first), Some(second)) => first.checked_sub(1) == Some(second),
        _ => false,
    })
}
