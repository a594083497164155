//! Packets of a flow that nodes have reported, to be recognised when they come again.

use inband_model::{Hop, Nanos};

use crate::paths::Postcard;
use crate::report::PacketIdentity;
use crate::sighting::Sighting;

/// A packet that a node has reported.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) hop: Hop,
    pub(super) ttl: u8,
    identity: PacketIdentity,
    at: Nanos,
}

impl Seen {
    /// The packet of a report of a single node; `None` where the packet cannot be recognised.
    pub(super) fn read(sighting: &Sighting<'_>) -> Option<Self> {
        let hop = sighting.hops.first()?.hop;
        let (identity, ttl) = sighting.reading.identity.zip(sighting.reading.ttl)?;
        Some(Self { hop, ttl, identity, at: sighting.now })
    }

    /// The packet that a node reported last.
    pub(super) fn of(card: &Postcard) -> Option<Self> {
        let (identity, ttl) = card.identity.zip(card.ttl)?;
        Some(Self { hop: card.hop, ttl, identity, at: card.received_at })
    }

    /// Whether this is the packet of an earlier report of the same node, which has passed routers since.
    pub(super) fn came_again_after(&self, earlier: &Self) -> bool {
        self.is_same(earlier) && self.ttl < earlier.ttl && self.at.since(earlier.at) <= SAME_PACKET
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.hop.node_id, self.identity) == (other.hop.node_id, other.identity)
    }

    /// Where the packet is remembered, among [`PLACES`].
    fn place(&self) -> usize {
        let bits = match self.identity {
            PacketIdentity::Headers { identification, l4_checksum } => {
                u32::from(identification) ^ u32::from(l4_checksum).rotate_left(3)
            }
            PacketIdentity::Number(number) => number,
        };
        let mixed = (bits ^ self.hop.node_id.0.rotate_left(16)).wrapping_mul(0x9e37_79b9);
        (mixed >> (u32::BITS - PLACES.ilog2())) as usize
    }
}

/// Some packets of one flow; each keeps its place for [`HELD`], so that packets in between do not replace it,
/// however many there are.
#[derive(Debug, Default)]
pub(super) struct SeenPackets {
    places: Vec<Option<Seen>>,
    latest: Nanos,
}

impl SeenPackets {
    /// Remembers a packet where there is room; returns what its place holds, unless that is too long ago:
    /// identities of many packets a second come again.
    pub(super) fn replace(&mut self, packet: Seen) -> Option<Seen> {
        self.places.resize(PLACES, None);
        self.latest = packet.at;
        let place = &mut self.places[packet.place()];
        let before = *place;
        let before = before.filter(|held| packet.at.since(held.at) < HELD);
        if before.is_none_or(|held| held.is_same(&packet)) {
            *place = Some(packet);
        }
        before
    }

    /// Whether the flow was reported lately enough for a packet to come again.
    pub(super) fn are_recent(&self, now: Nanos) -> bool {
        now.since(self.latest) <= SAME_PACKET
    }
}

/// Time within which equal identities mean the same packet.
const SAME_PACKET: Nanos = Nanos::from_secs(10);
/// How long a packet keeps its place: longer than a loop takes.
const HELD: Nanos = Nanos::from_secs(1);
/// Number of packets of a flow that are remembered; a power of two.
const PLACES: usize = 64;
