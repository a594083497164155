//! Which fields has a hop of its own, and how are they taken from it?

use crate::{HopRecord, Nanos, NodeId};

/// A field that may differ between the hops of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HopField {
    /// Which hop of the packet it is.
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
    /// How long the packet stayed.
    Latency,
    /// When the packet entered.
    IngressTimestamp,
    /// When the packet left.
    EgressTimestamp,
}

/// The values of a field.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Of at most 32 bits.
    Narrow(&'a [u32]),
    /// Of more.
    Wide(&'a [u64]),
}

impl HopField {
    /// All of them: first those of at most 32 bits, then the wide ones.
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
    /// How many have at most 32 bits.
    pub const NARROW: usize = 11;
    /// How many have more.
    pub const WIDE: usize = 3;

    /// Its place among those of at most 32 bits, or else among the wide ones.
    #[inline]
    pub(super) fn place(self) -> Result<usize, usize> {
        let place = self as usize;
        if place < HopField::NARROW { Ok(place) } else { Err(place - HopField::NARROW) }
    }

    /// What stands for it among the fields a hop has; 0 for those that every hop has.
    #[must_use]
    #[inline]
    pub const fn bit(self) -> u16 {
        match self {
            HopField::HopIndex | HopField::NodeId => 0,
            _ => 1 << (self as u16 - 2),
        }
    }

    /// Whether it is among the fields a hop has.
    #[must_use]
    #[inline]
    pub const fn is_in(self, present: u16) -> bool {
        present & self.bit() == self.bit()
    }

    /// Puts a value into a hop; one that does not fit its type counts as missing.
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

/// Which fields a hop has.
#[inline]
pub(super) fn present(hop: &HopRecord) -> u16 {
    let bit = |field: HopField, there: bool| if there { field.bit() } else { 0 };
    bit(HopField::IngressInterface, hop.ingress_interface.is_some())
        | bit(HopField::EgressInterface, hop.egress_interface.is_some())
        | bit(HopField::IngressInterfaceLevel2, hop.ingress_interface_level2.is_some())
        | bit(HopField::EgressInterfaceLevel2, hop.egress_interface_level2.is_some())
        | bit(HopField::QueueId, hop.queue_id.is_some())
        | bit(HopField::QueueOccupancy, hop.queue_occupancy.is_some())
        | bit(HopField::EgressUtilization, hop.egress_utilization.is_some())
        | bit(HopField::BufferId, hop.buffer_id.is_some())
        | bit(HopField::BufferOccupancy, hop.buffer_occupancy.is_some())
        | bit(HopField::Latency, hop.latency.is_some())
        | bit(HopField::IngressTimestamp, hop.ingress_timestamp.is_some())
        | bit(HopField::EgressTimestamp, hop.egress_timestamp.is_some())
}

/// Adds the narrow fields of hops to columns of `before` hops; `any` are the fields that one of the hops has.
pub(super) fn extend_narrow(
    columns: &mut [Vec<u32>; HopField::NARROW],
    before: usize,
    hops: &[HopRecord],
    any: u16,
) {
    let short = |value: Option<u16>| u32::from(value.unwrap_or(0));
    let byte = |value: Option<u8>| u32::from(value.unwrap_or(0));
    let [index, node, ingress, egress, ingress2, egress2, queue, depth, load, buffer, level] = columns;
    let adder = |field| Adder { field, before, hops, any };
    adder(HopField::HopIndex).add(index, |hop| hop.hop_index.into());
    adder(HopField::NodeId).add(node, |hop| hop.node_id.0);
    adder(HopField::IngressInterface).add(ingress, |hop| short(hop.ingress_interface));
    adder(HopField::EgressInterface).add(egress, |hop| short(hop.egress_interface));
    let level2 = |value: Option<u32>| value.unwrap_or(0);
    adder(HopField::IngressInterfaceLevel2).add(ingress2, |hop| level2(hop.ingress_interface_level2));
    adder(HopField::EgressInterfaceLevel2).add(egress2, |hop| level2(hop.egress_interface_level2));
    adder(HopField::QueueId).add(queue, |hop| byte(hop.queue_id));
    adder(HopField::QueueOccupancy).add(depth, |hop| hop.queue_occupancy.unwrap_or(0));
    adder(HopField::EgressUtilization).add(load, |hop| hop.egress_utilization.unwrap_or(0));
    adder(HopField::BufferId).add(buffer, |hop| byte(hop.buffer_id));
    adder(HopField::BufferOccupancy).add(level, |hop| hop.buffer_occupancy.unwrap_or(0));
}

/// Likewise for the wide fields.
pub(super) fn extend_wide(
    columns: &mut [Vec<u64>; HopField::WIDE],
    before: usize,
    hops: &[HopRecord],
    any: u16,
) {
    let [latency, ingress, egress] = columns;
    let adder = |field| Adder { field, before, hops, any };
    adder(HopField::Latency).add(latency, |hop| hop.latency.map_or(0, |latency| latency.0));
    adder(HopField::IngressTimestamp).add(ingress, |hop| hop.ingress_timestamp.unwrap_or(0));
    adder(HopField::EgressTimestamp).add(egress, |hop| hop.egress_timestamp.unwrap_or(0));
}

/// Adds one field of hops to its column.
struct Adder<'a> {
    field: HopField,
    before: usize,
    hops: &'a [HopRecord],
    any: u16,
}

impl Adder<'_> {
    #[inline]
    fn add<T: Copy + Default>(self, column: &mut Vec<T>, value: impl Fn(&HopRecord) -> T) {
        if self.field.is_in(self.any) {
            column.resize(self.before, T::default());
            column.extend(self.hops.iter().map(value));
        } else if !column.is_empty() {
            column.resize(self.before + self.hops.len(), T::default());
        }
    }
}
