//! What do dropped and missing packets say about their flow?

use inband_model::{Flow, Nanos, Origin};

use crate::drops::{Dropped, Place, Suspicion, Victim};
use crate::flows::FlowIndex;
use crate::outbox::Outbox;
use crate::report::{Between, HopReading, Missing};

use super::{Correlator, Sighting};

impl Correlator {
    /// Takes in the report of a packet that a node dropped.
    pub(super) fn handle_drop(&mut self, sighting: &Sighting<'_>) {
        let (reading, node_id) = (sighting.reading, sighting.report.node_id);
        if let Some(missing) = reading.missing {
            // Nobody knows where others were dropped.
            if let Some(Between { ingress, egress }) = missing.dropped {
                let place = Place { node_id, reason: None, ingress, egress, queue_id: None };
                self.record_drop(place, missing.packets.into(), sighting);
            }
            return;
        }
        let own = sighting.hops.iter().rev().find(|reading| reading.hop.node_id == node_id);
        let egress = own.and_then(|reading| reading.hop.egress_interface);
        let queue_id =
            reading.drop.map(|drop| drop.queue_id).or(own.and_then(HopReading::queue).map(|queue| queue.id));
        let place = Place {
            node_id,
            reason: reading.drop.map(|drop| drop.reason),
            ingress: own.and_then(|reading| reading.hop.ingress_interface),
            egress,
            queue_id,
        };
        self.record_drop(place, 1, sighting);
    }

    fn record_drop(&mut self, place: Place, packets: u64, sighting: &Sighting<'_>) {
        let reading = sighting.reading;
        let is_congested = self.ports.is_congested(place.node_id, place.egress, place.queue_id);
        let dropped = Dropped {
            now: sighting.now,
            report: sighting.report,
            packets,
            flow: reading.flow,
            ttl: reading.ttl,
            is_congested: reading.congested_queue || is_congested,
        };
        self.drops.record(place, &dropped);
    }

    /// Remembers that a packet of a flow was dropped because its TTL was zero.
    pub(super) fn note_ttl(&mut self, flow: FlowIndex, sighting: &Sighting<'_>) {
        if self.drops.is_ttl_zero(sighting.reading.drop.map(|drop| drop.reason)) {
            self.flows[flow].ttl_zero_at = Some(sighting.now);
        }
    }

    /// Takes in what is known of packets that are missing.
    pub(super) fn handle_numbers(&mut self, flow: Flow, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        if let Some(Missing { packets: lost @ 1.., dropped: None }) = sighting.reading.missing {
            self.numbers.announce(sighting.report, flow, lost.into(), outbox);
        }
        if let Some(number) = sighting.reading.number {
            self.numbers.record(sighting.report, flow, number);
        }
    }

    /// Whether anything of a flow has come past a node since a time.
    pub(super) fn gets_past(&self, suspicion: &Suspicion, victim: &Victim) -> bool {
        let Some(index) = self.flows.find(&victim.flow) else { return false };
        let entry = &self.flows[index];
        let is_since = |at: Nanos| at > suspicion.since;
        if entry.origin == Origin::MdStack && entry.path_is_whole && is_since(entry.path_seen_at) {
            return true;
        }
        let hops = entry.path.map_or(&[][..], |path| self.paths[path].path.hops());
        let place = |node_id| hops.iter().position(|hop| hop.node_id == node_id);
        let node = place(suspicion.node_id);
        entry.postcards.cards().any(|card| {
            let is_behind = match (card.ttl, victim.ttl) {
                (Some(ttl), Some(at_node)) if ttl != at_node => ttl < at_node,
                _ => node.zip(place(card.hop.node_id)).is_some_and(|(node, other)| node < other),
            };
            card.hop.node_id != suspicion.node_id && is_behind && is_since(card.received_at)
        })
    }
}
