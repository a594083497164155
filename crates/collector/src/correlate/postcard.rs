//! What do the reports of several nodes on a flow say about its path?

use inband_model::{Confidence, Hop, Nanos, Origin};

use crate::flows::{FlowEntry, FlowIndex};
use crate::outbox::Outbox;
use crate::paths::{Postcard, Put, order};
use crate::report::{HopReading, StackState};

use super::change::Finding;
use super::{Correlator, Sighting, What};

impl Correlator {
    /// Takes in the report of one node in MX or XD mode. Such reports usually tell of different packets, so
    /// what they say together is a state, and is given time to settle.
    pub(super) fn handle_postcard(&mut self, flow: FlowIndex, sighting: &Sighting<'_>) {
        let reading = sighting.reading;
        let entry = &mut self.flows[flow];
        let Some(hop) = sighting.hops.first() else { return };
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
        let put = entry.postcards.put(sighting.now, hop, reading.ttl);
        let has_changed = put != Put::Same;
        entry.postcards.set_last(sighting.report, reading.origin);
        if let Some(path) = entry.path {
            update_latency(entry, self.paths[path].path.hops(), hop);
            if !has_changed && !has_expired && entry.unsettled_since.is_none() {
                entry.path_seen_at = sighting.now;
                self.paths.touch(sighting.now, path, self.settings.link_resolution(), &mut self.links);
            }
        }
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
        let adopted = self.adopt(flow, &finding, outbox);
        if let Some(path) = adopted.filter(|_| fall_by_one(&cards)) {
            self.paths.make_certain(path, &mut self.links);
        }
    }
}

/// Whether whole stacks tell the path of the flow, so that single reports need not.
fn follows_stacks(entry: &FlowEntry, now: Nanos, keep: Nanos) -> bool {
    let has_path = entry.path.is_some() && entry.origin == Origin::MdStack;
    has_path && now.since(entry.path_seen_at) <= keep
}

fn update_latency(entry: &mut FlowEntry, hops: &[Hop], reading: &HopReading) {
    let places = hops.iter().zip(&mut entry.latencies);
    for (_, latency) in places.filter(|(hop, _)| hop.node_id == reading.hop.node_id) {
        *latency = reading.latency.or(*latency);
    }
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
