//! The fields that may differ between the hops of a report.

use crate::{HopRecord, Nanos, NodeId};

/// A field that may differ between the hops of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HopField {
    /// Index of the hop in the packet.
    HopIndex,
    /// The node.
    NodeId,
    /// Level 1 ingress interface.
    IngressInterface,
    /// Level 1 egress interface.
    EgressInterface,
    /// Level 2 ingress interface.
    IngressInterfaceLevel2,
    /// Level 2 egress interface.
    EgressInterfaceLevel2,
    /// The queue of the egress interface.
    QueueId,
    /// Its occupancy.
    QueueOccupancy,
    /// Utilisation of the egress interface.
    EgressUtilization,
    /// The buffer.
    BufferId,
    /// Its occupancy.
    BufferOccupancy,
    /// Hop latency.
    Latency,
    /// When the packet entered.
    IngressTimestamp,
    /// When the packet left.
    EgressTimestamp,
}

/// The values of a field.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// At most 32 bits wide.
    Narrow(&'a [u32]),
    /// More than 32 bits wide.
    Wide(&'a [u64]),
}

impl HopField {
    /// All fields: first those of at most 32 bits, then the wide ones.
    pub const ALL: [HopField; 14] = [
        HopField::HopIndex,
        HopField::NodeId,
        HopField::IngressInterface,
        HopField::EgressInterface,
        HopField::IngressInterfaceLevel2,
        HopField::EgressInterfaceLevel2,
        HopField::QueueId,
        HopField::QueueOccupancy,
        HopField::EgressUtilization,
        HopField::BufferId,
        HopField::BufferOccupancy,
        HopField::Latency,
        HopField::IngressTimestamp,
        HopField::EgressTimestamp,
    ];
    /// Number of fields of at most 32 bits.
    pub const NARROW: usize = 11;
    /// Number of wide fields.
    pub const WIDE: usize = 3;

    /// Its index among the fields of at most 32 bits (`Ok`) or among the wide ones (`Err`).
    #[inline]
    pub(super) fn place(self) -> Result<usize, usize> {
        let place = self as usize;
        if place < HopField::NARROW { Ok(place) } else { Err(place - HopField::NARROW) }
    }

    /// Its bit in the set of fields that a hop has; 0 for fields that every hop has.
    #[must_use]
    #[inline]
    pub const fn bit(self) -> u16 {
        match self {
            HopField::HopIndex | HopField::NodeId => 0,
            _ => 1 << (self as u16 - 2),
        }
    }

    /// Whether the set contains it.
    #[must_use]
    #[inline]
    pub const fn is_in(self, present: u16) -> bool {
        present & self.bit() == self.bit()
    }

    /// Sets the field in a hop; a value that does not fit the field's type counts as missing.
    pub(super) fn set(self, hop: &mut HopRecord, value: u64) {
        let byte = || u8::try_from(value).ok();
        let (short, word) = (u16::try_from(value).ok(), u32::try_from(value).ok());
        match self {
            HopField::HopIndex => hop.hop_index = byte().unwrap_or(u8::MAX),
            HopField::NodeId => hop.node_id = word.map_or(NodeId::NOT_AVAILABLE, NodeId),
            HopField::IngressInterface => hop.ingress_interface = short,
            HopField::EgressInterface => hop.egress_interface = short,
            HopField::IngressInterfaceLevel2 => hop.ingress_interface_level2 = word,
            HopField::EgressInterfaceLevel2 => hop.egress_interface_level2 = word,
            HopField::QueueId => hop.queue_id = byte(),
            HopField::QueueOccupancy => hop.queue_occupancy = word,
            HopField::EgressUtilization => hop.egress_utilization = word,
            HopField::BufferId => hop.buffer_id = byte(),
            HopField::BufferOccupancy => hop.buffer_occupancy = word,
            HopField::Latency => hop.latency = Some(Nanos(value)),
            HopField::IngressTimestamp => hop.ingress_timestamp = Some(value),
            HopField::EgressTimestamp => hop.egress_timestamp = Some(value),
        }
    }
}

/// A hop that can be added to columns.
pub trait HopFields {
    /// The value of a field of the hop; `None` where it has none. `place` is the index of the hop among those
    /// added together.
    fn value(&self, place: usize, field: HopField) -> Option<u64>;
}

impl HopFields for HopRecord {
    #[inline(always)]
    fn value(&self, _place: usize, field: HopField) -> Option<u64> {
        match field {
            HopField::HopIndex => Some(self.hop_index.into()),
            HopField::NodeId => Some(self.node_id.0.into()),
            HopField::IngressInterface => self.ingress_interface.map(u64::from),
            HopField::EgressInterface => self.egress_interface.map(u64::from),
            HopField::IngressInterfaceLevel2 => self.ingress_interface_level2.map(u64::from),
            HopField::EgressInterfaceLevel2 => self.egress_interface_level2.map(u64::from),
            HopField::QueueId => self.queue_id.map(u64::from),
            HopField::QueueOccupancy => self.queue_occupancy.map(u64::from),
            HopField::EgressUtilization => self.egress_utilization.map(u64::from),
            HopField::BufferId => self.buffer_id.map(u64::from),
            HopField::BufferOccupancy => self.buffer_occupancy.map(u64::from),
            HopField::Latency => self.latency.map(|latency| latency.0),
            HopField::IngressTimestamp => self.ingress_timestamp,
            HopField::EgressTimestamp => self.egress_timestamp,
        }
    }
}

/// Which fields a hop has.
#[inline]
pub(super) fn present<H: HopFields>(place: usize, hop: &H) -> u16 {
    // Written out, so that the field is a constant wherever its value is read.
    let bit = |field: HopField, value: Option<u64>| if value.is_some() { field.bit() } else { 0 };
    bit(HopField::IngressInterface, hop.value(place, HopField::IngressInterface))
        | bit(HopField::EgressInterface, hop.value(place, HopField::EgressInterface))
        | bit(HopField::IngressInterfaceLevel2, hop.value(place, HopField::IngressInterfaceLevel2))
        | bit(HopField::EgressInterfaceLevel2, hop.value(place, HopField::EgressInterfaceLevel2))
        | bit(HopField::QueueId, hop.value(place, HopField::QueueId))
        | bit(HopField::QueueOccupancy, hop.value(place, HopField::QueueOccupancy))
        | bit(HopField::EgressUtilization, hop.value(place, HopField::EgressUtilization))
        | bit(HopField::BufferId, hop.value(place, HopField::BufferId))
        | bit(HopField::BufferOccupancy, hop.value(place, HopField::BufferOccupancy))
        | bit(HopField::Latency, hop.value(place, HopField::Latency))
        | bit(HopField::IngressTimestamp, hop.value(place, HopField::IngressTimestamp))
        | bit(HopField::EgressTimestamp, hop.value(place, HopField::EgressTimestamp))
}

/// Adds hops to columns of `before` hops; `any` are the fields that at least one of them has.
pub(super) struct Adder<'a, H> {
    pub(super) before: usize,
    pub(super) hops: &'a [H],
    pub(super) any: u16,
}

impl<H: HopFields> Adder<'_, H> {
    /// Adds the fields of at most 32 bits.
    #[inline]
    pub(super) fn add_narrow(&self, columns: &mut [Vec<u32>; HopField::NARROW]) {
        let [index, node, ingress, egress, ingress2, egress2, queue, depth, load, buffer, level] = columns;
        self.add(index, HopField::HopIndex, narrow);
        self.add(node, HopField::NodeId, narrow);
        self.add(ingress, HopField::IngressInterface, narrow);
        self.add(egress, HopField::EgressInterface, narrow);
        self.add(ingress2, HopField::IngressInterfaceLevel2, narrow);
        self.add(egress2, HopField::EgressInterfaceLevel2, narrow);
        self.add(queue, HopField::QueueId, narrow);
        self.add(depth, HopField::QueueOccupancy, narrow);
        self.add(load, HopField::EgressUtilization, narrow);
        self.add(buffer, HopField::BufferId, narrow);
        self.add(level, HopField::BufferOccupancy, narrow);
    }

    /// Adds the wide fields.
    #[inline]
    pub(super) fn add_wide(&self, columns: &mut [Vec<u64>; HopField::WIDE]) {
        let [latency, ingress, egress] = columns;
        self.add(latency, HopField::Latency, |value| value);
        self.add(ingress, HopField::IngressTimestamp, |value| value);
        self.add(egress, HopField::EgressTimestamp, |value| value);
    }

    #[inline(always)]
    fn add<T: Copy + Default>(&self, column: &mut Vec<T>, field: HopField, as_it_stands: impl Fn(u64) -> T) {
        if field.is_in(self.any) {
            column.resize(self.before, T::default());
            // The iterator has a known length, so the column grows once.
            let values = self.hops.iter().enumerate().map(|(place, hop)| hop.value(place, field));
            column.extend(values.map(|value| as_it_stands(value.unwrap_or(0))));
        } else if !column.is_empty() {
            column.resize(self.before + self.hops.len(), T::default());
        }
    }
}

/// A value of a field that has at most 32 bits.
#[inline(always)]
fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
