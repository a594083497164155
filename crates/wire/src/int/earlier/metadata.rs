//! The metadata of one hop in versions before 2.0.

use crate::int::domain::set_bits;
use crate::int::earlier::layout::{InstructionSet, Layout};
use crate::int::metadata::{HopMetadata, Interfaces, Queue};

/// The metadata of one hop. `None`: not available, or not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Metadata {
    /// The metadata that later versions share. Timestamps are the low 32 or 31 bits of the device's clock; a
    /// queue of 2016 has no id and is read as queue 0; interfaces of 2016 are set if both are known and fit.
    pub hop: HopMetadata,
    /// Ingress port of 2016, 31 bits.
    pub ingress_port: Option<u32>,
    /// Egress port of 2016, 31 bits.
    pub egress_port: Option<u32>,
    /// Queue congestion status of 0.5 and 2016.
    pub queue_congestion: Option<QueueCongestion>,
}

/// How congested a queue was, in the device's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueueCongestion {
    /// Queue identifier; only 0.5 has it.
    pub queue_id: Option<u8>,
    /// Congestion status: 24 bits in 0.5, 31 bits in 2016.
    pub status: u32,
}

impl From<HopMetadata> for Metadata {
    fn from(hop: HopMetadata) -> Self {
        let port = |port: fn(Interfaces) -> u16| hop.interfaces.map(|interfaces| u32::from(port(interfaces)));
        Self {
            hop,
            ingress_port: port(|ids| ids.ingress),
            egress_port: port(|ids| ids.egress),
            queue_congestion: None,
        }
    }
}

impl Metadata {
    /// Reads the metadata that `bitmap` announces from `bytes`; reserved bits are skipped, values that are
    /// truncated or not available become `None`.
    #[must_use]
    pub fn read(layout: Layout, bitmap: u16, bytes: &[u8]) -> Self {
        let mut reader = Reader { bytes, none: not_available(layout) };
        let mut this = Self::default();
        for bit in set_bits(bitmap) {
            this.read_bit(layout, bit, &mut reader);
        }
        if layout.instructions() == InstructionSet::V2016 {
            this.hop.interfaces = this.interfaces_of_ports();
        }
        this
    }

    fn read_bit(&mut self, layout: Layout, bit: usize, reader: &mut Reader<'_>) {
        let hop = &mut self.hop;
        match (bit, layout.instructions()) {
            (0, _) => hop.node_id = reader.word(),
            (1, InstructionSet::V2016) => self.ingress_port = reader.word(),
            (1, _) => hop.interfaces = reader.word().map(interfaces),
            (2, _) => hop.hop_latency = reader.word(),
            (3, InstructionSet::V2016) => {
                hop.queue = reader.word().map(|occupancy| Queue { id: 0, occupancy });
            }
            (3, _) => hop.queue = reader.word().map(split).map(|(id, occupancy)| Queue { id, occupancy }),
            (4, _) => hop.ingress_timestamp = reader.timestamp(layout),
            (5, InstructionSet::V2016) => self.egress_port = reader.word(),
            (5, _) => hop.egress_timestamp = reader.timestamp(layout),
            (6, InstructionSet::V1_0) if layout.has_short_level2_ports() => {
                [hop.ingress_interface_level2, hop.egress_interface_level2] = reader.halves();
            }
            (6, InstructionSet::V1_0) => {
                hop.ingress_interface_level2 = reader.word();
                hop.egress_interface_level2 = reader.word();
            }
            (6, InstructionSet::V2016) => {
                self.queue_congestion =
                    reader.word().map(|status| QueueCongestion { queue_id: None, status });
            }
            (6, InstructionSet::V0_5) => {
                self.queue_congestion = reader
                    .word()
                    .map(split)
                    .map(|(id, status)| QueueCongestion { queue_id: Some(id), status });
            }
            (7, _) => hop.egress_utilization = reader.word(),
            (15, InstructionSet::V1_0) => hop.checksum_complement = reader.word(),
            _ => {
                reader.word();
            }
        }
    }

    /// Writes the metadata that `bitmap` asks for and returns how many bytes of `out` were written.
    ///
    /// A value too large for its field is written as the maximum, a timestamp as its low bits, an id that
    /// does not fit as not available. Bottom-of-stack bits of 2016 are clear: see [`set_bottom_of_stack`].
    /// Stops where `out` is full.
    // int-0.5/md-04, int-1.0/md-08
    pub fn write(&self, layout: Layout, bitmap: u16, out: &mut [u8]) -> usize {
        let mut writer = Writer { out, at: 0, none: not_available(layout) };
        for bit in set_bits(bitmap) {
            self.write_bit(layout, bit, &mut writer);
        }
        writer.at
    }

    fn write_bit(&self, layout: Layout, bit: usize, writer: &mut Writer<'_>) {
        let hop = &self.hop;
        match (bit, layout.instructions()) {
            (0, _) => writer.id(hop.node_id),
            (1, InstructionSet::V2016) => writer.id(self.ingress_port),
            (1, _) => {
                writer.id(hop.interfaces.map(|ids| u32::from(ids.ingress) << 16 | u32::from(ids.egress)));
            }
            (2, _) => writer.amount(hop.hop_latency),
            (3, InstructionSet::V2016) => writer.amount(hop.queue.map(|queue| queue.occupancy)),
            (3, _) => writer.id(hop.queue.map(|queue| joined(queue.id, queue.occupancy))),
            (4, _) => writer.timestamp(layout, hop.ingress_timestamp),
            (5, InstructionSet::V2016) => writer.id(self.egress_port),
            (5, _) => writer.timestamp(layout, hop.egress_timestamp),
            (6, InstructionSet::V1_0) if layout.has_short_level2_ports() => {
                writer.halves([hop.ingress_interface_level2, hop.egress_interface_level2]);
            }
            (6, InstructionSet::V1_0) => {
                writer.id(hop.ingress_interface_level2);
                writer.id(hop.egress_interface_level2);
            }
            (6, InstructionSet::V2016) => {
                writer.amount(self.queue_congestion.map(|congestion| congestion.status));
            }
            (6, InstructionSet::V0_5) => writer.id(self
                .queue_congestion
                .map(|congestion| joined(congestion.queue_id.unwrap_or(0), congestion.status))),
            (7, _) => writer.amount(hop.egress_utilization),
            (15, InstructionSet::V1_0) => writer.id(hop.checksum_complement),
            _ => writer.id(None),
        }
    }

    fn interfaces_of_ports(&self) -> Option<Interfaces> {
        let port = |port: Option<u32>| port.and_then(|port| u16::try_from(port).ok());
        Some(Interfaces { ingress: port(self.ingress_port)?, egress: port(self.egress_port)? })
    }
}

/// Marks the last word of `stack` as the bottom of a stack of 2016.
// int-2016/md-06
pub fn set_bottom_of_stack(stack: &mut [u8]) {
    if let Some([first, ..]) = stack.last_chunk_mut::<4>() {
        *first |= BOTTOM_OF_STACK;
    }
}

/// The bottom-of-stack bit in the first byte of a word of 2016.
pub const BOTTOM_OF_STACK: u8 = 0x80;

/// The "not available" value, which is also the mask of the bits a word can hold.
// int-2016/md-04
pub(super) const fn not_available(layout: Layout) -> u32 {
    match layout.instructions() {
        InstructionSet::V1_0 | InstructionSet::V0_5 => u32::MAX,
        InstructionSet::V2016 => u32::MAX >> 1,
    }
}

const LOW_24_BITS: u32 = 0x00ff_ffff;

fn interfaces(word: u32) -> Interfaces {
    Interfaces { ingress: (word >> 16) as u16, egress: (word & 0xffff) as u16 }
}

fn split(word: u32) -> (u8, u32) {
    ((word >> 24) as u8, word & LOW_24_BITS)
}

fn joined(id: u8, amount: u32) -> u32 {
    u32::from(id) << 24 | amount.min(LOW_24_BITS)
}

struct Reader<'a> {
    bytes: &'a [u8],
    none: u32,
}

impl Reader<'_> {
    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u32::from_be_bytes(*word) & self.none).filter(|value| *value != self.none)
    }

    fn timestamp(&mut self, layout: Layout) -> Option<u64> {
        if !layout.has_wide_timestamps() {
            return self.word().map(u64::from);
        }
        let (time, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u64::from_be_bytes(*time)).filter(|time| *time != u64::MAX)
    }

    /// Two ids in one word, each of which may be missing.
    fn halves(&mut self) -> [Option<u32>; 2] {
        let word = self.word().unwrap_or(u32::MAX);
        [word >> 16, word & 0xffff].map(|id| Some(id).filter(|id| *id != 0xffff))
    }
}

struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
    none: u32,
}

impl Writer<'_> {
    /// Writes an id, which must not be clamped; one that does not fit is not available.
    fn id(&mut self, value: Option<u32>) {
        self.word(value.filter(|value| *value < self.none));
    }

    /// Writes an amount, clamped to the maximum.
    fn amount(&mut self, value: Option<u32>) {
        self.word(value.map(|value| value.min(self.none - 1)));
    }

    /// Writes the low bits of a time; a time equal to "not available" is written one nanosecond earlier.
    fn timestamp(&mut self, layout: Layout, value: Option<u64>) {
        if layout.has_wide_timestamps() {
            return self.put(value.map_or(u64::MAX, |time| time.min(u64::MAX - 1)).to_be_bytes());
        }
        let low = |value: u64| u32::try_from(value & u64::from(self.none)).ok();
        self.amount(value.and_then(low));
    }

    /// Writes two ids in one word; one that does not fit is not available.
    fn halves(&mut self, ids: [Option<u32>; 2]) {
        let [first, second] = ids.map(|id| id.filter(|id| *id < 0xffff).unwrap_or(0xffff));
        self.put((first << 16 | second).to_be_bytes());
    }

    fn word(&mut self, value: Option<u32>) {
        self.put(value.unwrap_or(self.none).to_be_bytes());
    }

    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(to) = self.out.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut) {
            *to = bytes;
            self.at += N;
        }
    }
}

#[cfg(test)]
mod tests;
