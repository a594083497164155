//! The metadata of each hop.

use inband_model::{Hop, Nanos, NodeId, NodeUnits};
use inband_wire::int::{HopMetadata, Queue};
use serde::{Deserialize, Serialize};

/// The metadata of one hop about one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HopReading {
    pub(crate) hop: Hop,
    /// How long the packet stayed in the node.
    pub(crate) latency: Option<Nanos>,
    /// Whether its timestamps are of 64 bits. A narrow clock wraps around within seconds, and cannot be
    /// compared with that of another node.
    pub(crate) has_wide_clock: bool,
    /// All its metadata, as in the report.
    #[serde(with = "super::wire::metadata")]
    pub(crate) metadata: HopMetadata,
}

/// The hops of a report, followed by spare room: a hop is large, and is filled in place.
#[derive(Debug, Default)]
pub(super) struct Hops {
    places: Vec<HopReading>,
    count: usize,
}

impl Hops {
    #[inline]
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    pub(super) fn as_slice(&self) -> &[HopReading] {
        &self.places[..self.count]
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [HopReading] {
        &mut self.places[..self.count]
    }

    /// Adds hops to be filled.
    #[inline]
    pub(super) fn add(&mut self, count: usize) -> &mut [HopReading] {
        let before = self.count;
        self.count += count;
        if self.count > self.places.len() {
            self.places.resize(self.count, HopReading::EMPTY);
        }
        &mut self.places[before..self.count]
    }
}

impl HopReading {
    /// A hop without metadata.
    pub(crate) const EMPTY: HopReading = HopReading {
        hop: Hop { node_id: NodeId::NOT_AVAILABLE, ingress_interface: None, egress_interface: None },
        latency: None,
        has_wide_clock: false,
        metadata: HopMetadata::NONE,
    };

    /// Derives the remaining fields of the hop from its metadata, whose timestamps have `timestamp_bits`
    /// bits.
    #[inline]
    pub(super) fn complete(&mut self, node_id: NodeId, timestamp_bits: u32) {
        let metadata = &self.metadata;
        self.hop = Hop {
            node_id,
            ingress_interface: metadata.interfaces.and_then(|interfaces| available(interfaces.ingress)),
            egress_interface: metadata.interfaces.and_then(|interfaces| available(interfaces.egress)),
        };
        self.latency = latency(metadata, timestamp_bits);
        self.has_wide_clock = timestamp_bits == u64::BITS;
    }

    /// The queue the packet waited in.
    #[inline]
    pub(crate) fn queue(&self) -> Option<Queue> {
        self.metadata.queue
    }

    /// When the packet arrived, by a clock that can be compared with that of another node.
    #[inline]
    pub(crate) fn came_at(&self) -> Option<u64> {
        self.metadata.ingress_timestamp.filter(|_| self.has_wide_clock)
    }

    /// When the packet left, by a clock that can be compared with that of another node.
    #[inline]
    pub(crate) fn left_at(&self) -> Option<u64> {
        self.metadata.egress_timestamp.filter(|_| self.has_wide_clock)
    }

    /// Converts latency and timestamps from the node's units to nanoseconds.
    pub(super) fn convert_times(&mut self, units: &NodeUnits) {
        let metadata = &mut self.metadata;
        self.latency = self.latency.map(|steps| units.latency(steps, metadata.hop_latency.is_none()));
        for timestamp in [&mut metadata.ingress_timestamp, &mut metadata.egress_timestamp] {
            *timestamp = timestamp.map(|steps| units.timestamp_ns(steps));
        }
    }

    /// Whether a hop without a node id shows what `other` shows of its hop, at least one field.
    pub(super) fn is_of_nobody_else(&self, other: &HopReading) -> bool {
        let HopMetadata { interfaces, hop_latency, queue, ingress_timestamp, egress_timestamp, .. } =
            self.metadata;
        let other = &other.metadata;
        let same = [
            interfaces.zip(other.interfaces).map(|(own, other)| own == other),
            hop_latency.zip(other.hop_latency).map(|(own, other)| own == other),
            queue.zip(other.queue).map(|(own, other)| own == other),
            ingress_timestamp.zip(other.ingress_timestamp).map(|(own, other)| own == other),
            egress_timestamp.zip(other.egress_timestamp).map(|(own, other)| own == other),
        ];
        self.hop.node_id == NodeId::NOT_AVAILABLE
            && same.contains(&Some(true))
            && !same.contains(&Some(false))
    }

    /// Fills missing fields from `other`, the same hop reported elsewhere.
    pub(super) fn complete_from(&mut self, other: &HopReading) {
        self.hop.ingress_interface = self.hop.ingress_interface.or(other.hop.ingress_interface);
        self.hop.egress_interface = self.hop.egress_interface.or(other.hop.egress_interface);
        self.latency = self.latency.or(other.latency);
        self.has_wide_clock &= other.has_wide_clock;
        let (own, other) = (&mut self.metadata, &other.metadata);
        own.queue = own.queue.or(other.queue);
        own.ingress_timestamp = own.ingress_timestamp.or(other.ingress_timestamp);
        own.egress_timestamp = own.egress_timestamp.or(other.egress_timestamp);
        own.ingress_interface_level2 = own.ingress_interface_level2.or(other.ingress_interface_level2);
        own.egress_interface_level2 = own.egress_interface_level2.or(other.egress_interface_level2);
        own.egress_utilization = own.egress_utilization.or(other.egress_utilization);
        own.buffer = own.buffer.or(other.buffer);
    }
}

impl AsMut<HopMetadata> for HopReading {
    fn as_mut(&mut self) -> &mut HopMetadata {
        &mut self.metadata
    }
}

/// The hop latency as reported by the node, else from its timestamps of `timestamp_bits` bits.
#[inline]
fn latency(metadata: &HopMetadata, timestamp_bits: u32) -> Option<Nanos> {
    if let Some(latency) = metadata.hop_latency {
        return Some(Nanos(u64::from(latency)));
    }
    let mask = u64::MAX >> u64::BITS.saturating_sub(timestamp_bits);
    // In headers of 0.5 and 1.0 an ingress timestamp of 0 means that there is none.
    let ingress = metadata.ingress_timestamp.filter(|time| *time != 0 || timestamp_bits == u64::BITS)?;
    let span = metadata.egress_timestamp?.wrapping_sub(ingress) & mask;
    // A clock that was set back between the two gives a span of half its range or more, which is no latency.
    (span <= mask >> 1).then_some(Nanos(span))
}

/// An interface of level 1, which is half a word; all ones means not available, as in a whole word.
// int-2.1/md-24
#[inline]
fn available(interface: u16) -> Option<u16> {
    Some(interface).filter(|interface| *interface != u16::MAX)
}
