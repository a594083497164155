//! What did each node report of a flow lately?

use inband_model::{Hop, Nanos, NodeId, Origin, ReportReference};

use crate::report::{HopReading, PacketIdentity};

/// The latest report of each node on one flow, at most [`MOST_POSTCARDS`] of them.
#[derive(Debug, Default)]
pub(crate) struct Postcards {
    cards: Vec<Postcard>,
    last: Option<(ReportReference, Origin)>,
}

/// The latest report of one node on one flow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Postcard {
    pub(crate) hop: Hop,
    pub(crate) latency: Option<Nanos>,
    /// TTL of the reported packet.
    pub(crate) ttl: Option<u8>,
    /// Which packet it was.
    pub(crate) identity: Option<PacketIdentity>,
    /// When the packet came in and when it left, by the node's clock.
    pub(crate) came_at: Option<u64>,
    pub(crate) left_at: Option<u64>,
    pub(crate) received_at: Nanos,
}

/// What a node's report does to the set of hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    /// Nothing.
    Same,
    /// It adds a node.
    Joined,
    /// A node that was there names other interfaces.
    Moved,
}

impl Postcards {
    /// Puts in a node's report on a packet; tells what that does to the set of hops.
    pub(crate) fn put(
        &mut self,
        now: Nanos,
        reading: &HopReading,
        ttl: Option<u8>,
        identity: Option<PacketIdentity>,
    ) -> Put {
        let known = self.cards.iter_mut().find(|card| card.hop.node_id == reading.hop.node_id);
        let Some(card) = known else {
            if self.cards.len() >= MOST_POSTCARDS {
                return Put::Same;
            }
            self.cards.push(Postcard {
                hop: reading.hop,
                latency: reading.latency,
                ttl,
                identity,
                came_at: reading.came_at(),
                left_at: reading.left_at(),
                received_at: now,
            });
            return Put::Joined;
        };
        // A report that leaves the interfaces out does not say that they have changed.
        let hop = Hop {
            ingress_interface: reading.hop.ingress_interface.or(card.hop.ingress_interface),
            egress_interface: reading.hop.egress_interface.or(card.hop.egress_interface),
            ..reading.hop
        };
        let has_changed = hop != card.hop;
        *card = Postcard {
            hop,
            latency: reading.latency.or(card.latency),
            ttl: ttl.or(card.ttl),
            identity,
            came_at: reading.came_at().or(card.came_at),
            left_at: reading.left_at(),
            received_at: now,
        };
        if has_changed { Put::Moved } else { Put::Same }
    }

    /// The latest report of a node.
    pub(crate) fn of(&self, node_id: NodeId) -> Option<&Postcard> {
        self.cards.iter().find(|card| card.hop.node_id == node_id)
    }

    /// Removes the nodes that were silent for so long while others reported; tells whether there were any.
    pub(crate) fn expire(&mut self, now: Nanos, keep: Nanos) -> bool {
        let before = self.cards.len();
        self.cards.retain(|card| now.since(card.received_at) <= keep);
        self.cards.len() < before
    }

    /// Removes the nodes that have been replaced: silent since a change that began at `since`, while another
    /// node, which was not, sees packets with the same TTL and so stands in the same place.
    pub(crate) fn drop_replaced(&mut self, since: Nanos) {
        let is_fresh = |card: &Postcard| card.received_at >= since;
        let fresh: Vec<Option<u8>> =
            self.cards.iter().filter(|card| is_fresh(card)).map(|card| card.ttl).collect();
        self.cards.retain(|card| is_fresh(card) || !fresh.contains(&card.ttl));
    }

    /// Forgets all reports, when something better tells the path.
    pub(crate) fn clear(&mut self) {
        self.cards.clear();
    }

    /// Notes which report was the latest.
    pub(crate) fn set_last(&mut self, report: ReportReference, origin: Origin) {
        self.last = Some((report, origin));
    }

    /// The latest report, and in which mode it came.
    pub(crate) fn last(&self) -> Option<(ReportReference, Origin)> {
        self.last
    }

    pub(crate) fn cards(&self) -> &[Postcard] {
        &self.cards
    }
}

/// Most nodes one flow is followed through.
pub(crate) const MOST_POSTCARDS: usize = 16;
