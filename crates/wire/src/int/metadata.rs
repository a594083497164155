//! The metadata of one hop in INT 2.x.

use crate::int::domain::set_bits;
use crate::int::instruction::Instructions;

/// Ingress and egress interface identifier of level 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interfaces {
    /// Interface on which the packet arrived.
    pub ingress: u16,
    /// Interface on which the packet left.
    pub egress: u16,
}

/// A queue and how full it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Queue {
    /// Queue identifier, per egress interface.
    pub id: u8,
    /// Occupancy, 24 bits, in the device's unit.
    pub occupancy: u32,
}

/// A buffer and how full it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Buffer {
    /// Buffer identifier.
    pub id: u8,
    /// Occupancy, 24 bits, in the device's unit.
    pub occupancy: u32,
}

/// The baseline metadata of one hop. `None`: not available (written as all ones) or not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HopMetadata {
    /// Node ID.
    pub node_id: Option<u32>,
    /// Level 1 interface identifiers.
    pub interfaces: Option<Interfaces>,
    /// Time inside the device, nanoseconds.
    pub hop_latency: Option<u32>,
    /// The egress queue.
    pub queue: Option<Queue>,
    /// Arrival time of the packet, nanoseconds of the device's clock.
    pub ingress_timestamp: Option<u64>,
    /// Departure time of the packet, nanoseconds of the device's clock.
    pub egress_timestamp: Option<u64>,
    /// Level 2 identifier of the interface on which the packet arrived.
    pub ingress_interface_level2: Option<u32>,
    /// Level 2 identifier of the interface on which the packet left.
    pub egress_interface_level2: Option<u32>,
    /// Utilization of the egress interface, in the device's unit.
    pub egress_utilization: Option<u32>,
    /// The shared buffer.
    pub buffer: Option<Buffer>,
    /// Checksum complement; `None`: the hop updated the L4 checksum itself.
    pub checksum_complement: Option<u32>,
}

impl HopMetadata {
    /// Metadata of a hop that reports nothing.
    pub const NONE: Self = Self {
        node_id: None,
        interfaces: None,
        hop_latency: None,
        queue: None,
        ingress_timestamp: None,
        egress_timestamp: None,
        ingress_interface_level2: None,
        egress_interface_level2: None,
        egress_utilization: None,
        buffer: None,
        checksum_complement: None,
    };

    /// Writes the metadata that `instructions` ask for, in the order of their bits, without the checksum
    /// complement; returns how many bytes of `out` were written.
    ///
    /// Stops where `out` is full; it should hold at least `instructions.words()`.
    #[inline]
    pub fn write(&self, instructions: Instructions, out: &mut [u8]) -> usize {
        // int-2.1/md-23: in the order of the bits; int-2.1/md-24: all ones where a value is not available.
        // One branch per bit: they are the same for all packets of a flow, so the processor predicts them.
        let asks_for = |bit| instructions.intersects(bit);
        let mut writer = Writer { out, at: 0 };
        if asks_for(Instructions::NODE_ID) {
            writer.word(self.node_id);
        }
        if asks_for(Instructions::INTERFACES) {
            writer.word(self.interfaces.map(|ids| u32::from(ids.ingress) << 16 | u32::from(ids.egress)));
        }
        if asks_for(Instructions::HOP_LATENCY) {
            writer.word(self.hop_latency);
        }
        if asks_for(Instructions::QUEUE) {
            writer.word(self.queue.map(|queue| occupancy_word(queue.id, queue.occupancy)));
        }
        if asks_for(Instructions::INGRESS_TIMESTAMP) {
            writer.long(self.ingress_timestamp);
        }
        if asks_for(Instructions::EGRESS_TIMESTAMP) {
            writer.long(self.egress_timestamp);
        }
        if asks_for(Instructions::LEVEL2_INTERFACES) {
            writer.word(self.ingress_interface_level2);
            writer.word(self.egress_interface_level2);
        }
        if asks_for(Instructions::EGRESS_UTILIZATION) {
            writer.word(self.egress_utilization);
        }
        if asks_for(Instructions::BUFFER) {
            writer.word(self.buffer.map(|buffer| occupancy_word(buffer.id, buffer.occupancy)));
        }
        if asks_for(Instructions::RESERVED) {
            // int-2.1/md-25: 4 bytes of ones for each reserved instruction.
            for _ in set_bits((instructions & Instructions::RESERVED).0) {
                writer.word(None);
            }
        }
        writer.at
    }

    /// Reads the metadata announced by `instructions` from `bytes`; reserved bits are skipped, fields that
    /// are truncated or all ones become `None`. The checksum complement is not read.
    #[inline]
    #[must_use]
    pub fn read(instructions: Instructions, bytes: &[u8]) -> Self {
        let mut hop = Self::default();
        hop.fill(instructions, bytes);
        hop
    }

    /// Like [`Self::read`], but fills existing metadata: the struct is large, and this saves moving it. The
    /// checksum complement is unchanged.
    #[inline]
    pub fn fill(&mut self, instructions: Instructions, bytes: &[u8]) {
        // One branch per bit, as in writing.
        let asks_for = |bit| instructions.intersects(bit);
        let mut reader = Reader { bytes };
        let ids = |word| Interfaces { ingress: high(word), egress: (word & 0xffff) as u16 };
        self.node_id = if asks_for(Instructions::NODE_ID) { reader.word() } else { None };
        self.interfaces = if asks_for(Instructions::INTERFACES) { reader.word().map(ids) } else { None };
        self.hop_latency = if asks_for(Instructions::HOP_LATENCY) { reader.word() } else { None };
        let queue = |word| Queue { id: top(word), occupancy: word & OCCUPANCY };
        self.queue = if asks_for(Instructions::QUEUE) { reader.word().map(queue) } else { None };
        self.ingress_timestamp = if asks_for(Instructions::INGRESS_TIMESTAMP) { reader.long() } else { None };
        self.egress_timestamp = if asks_for(Instructions::EGRESS_TIMESTAMP) { reader.long() } else { None };
        (self.ingress_interface_level2, self.egress_interface_level2) =
            if asks_for(Instructions::LEVEL2_INTERFACES) {
                (reader.word(), reader.word())
            } else {
                (None, None)
            };
        self.egress_utilization =
            if asks_for(Instructions::EGRESS_UTILIZATION) { reader.word() } else { None };
        let buffer = |word| Buffer { id: top(word), occupancy: word & OCCUPANCY };
        self.buffer = if asks_for(Instructions::BUFFER) { reader.word().map(buffer) } else { None };
    }

    /// The subset of `instructions` that this metadata has values for.
    ///
    /// A report has no all-ones padding, so a node clears the other bits (INT 2.1, INT-MX header).
    #[must_use]
    pub fn available(&self, instructions: Instructions) -> Instructions {
        let level2 = self.ingress_interface_level2.or(self.egress_interface_level2).is_some();
        let have = [
            (self.node_id.is_some(), Instructions::NODE_ID),
            (self.interfaces.is_some(), Instructions::INTERFACES),
            (self.hop_latency.is_some(), Instructions::HOP_LATENCY),
            (self.queue.is_some(), Instructions::QUEUE),
            (self.ingress_timestamp.is_some(), Instructions::INGRESS_TIMESTAMP),
            (self.egress_timestamp.is_some(), Instructions::EGRESS_TIMESTAMP),
            (level2, Instructions::LEVEL2_INTERFACES),
            (self.egress_utilization.is_some(), Instructions::EGRESS_UTILIZATION),
            (self.buffer.is_some(), Instructions::BUFFER),
        ];
        have.iter()
            .filter(|(available, _)| *available)
            .fold(Instructions::default(), |all, (_, bit)| all | (instructions & *bit))
    }
}

impl AsMut<HopMetadata> for HopMetadata {
    fn as_mut(&mut self) -> &mut Self {
        self
    }
}

/// The reserved instructions among `instructions`, bits 9 to 14, with their words in `bytes`; `None` for a
/// word of all ones.
pub(crate) fn reserved<'a>(
    instructions: Instructions,
    bytes: &'a [u8],
) -> impl Iterator<Item = (usize, Option<u32>)> + use<'a> {
    let before = instructions.without(Instructions::RESERVED | Instructions::CHECKSUM_COMPLEMENT);
    let words = bytes.get(before.words().bytes()..).unwrap_or_default().as_chunks::<4>().0;
    set_bits((instructions & Instructions::RESERVED).0).zip(words).map(|(bit, word)| {
        let value = u32::from_be_bytes(*word);
        (bit, Some(value).filter(|value| *value != NOT_AVAILABLE))
    })
}

/// The "not available" value: all ones, one word.
pub const NOT_AVAILABLE: u32 = u32::MAX;

const OCCUPANCY: u32 = 0x00ff_ffff;

#[inline]
fn occupancy_word(id: u8, occupancy: u32) -> u32 {
    u32::from(id) << 24 | occupancy.min(OCCUPANCY)
}

fn high(word: u32) -> u16 {
    (word >> 16) as u16
}

fn top(word: u32) -> u8 {
    (word >> 24) as u8
}

struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    #[inline]
    fn word(&mut self, value: Option<u32>) {
        if let Some(to) = self.out.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut) {
            *to = value.unwrap_or(NOT_AVAILABLE).to_be_bytes();
            self.at += 4;
        }
    }

    #[inline]
    fn long(&mut self, value: Option<u64>) {
        if let Some(to) = self.out.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut) {
            *to = value.unwrap_or(u64::MAX).to_be_bytes();
            self.at += 8;
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    #[inline]
    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u32::from_be_bytes(*word)).filter(|value| *value != NOT_AVAILABLE)
    }

    #[inline]
    fn long(&mut self) -> Option<u64> {
        let (long, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u64::from_be_bytes(*long)).filter(|value| *value != u64::MAX)
    }
}

#[cfg(test)]
mod tests;
