//! Reads the metadata of many hops at once.

use crate::int::instruction::Instructions;
use crate::int::metadata::{Buffer, HopMetadata, Interfaces, NOT_AVAILABLE, Queue};

/// Reads the metadata announced by `instructions` from all hops in `bytes` into `hops`. Each hop is
/// `hop_bytes` long; `bytes` has the last hop of the path first, `hops` the first.
///
/// When `hops` is too short, the first hops of the path are left out. `hop_bytes` is at least what the
/// instructions announce. Reserved bits are skipped, fields of all ones become `None`; the checksum
/// complement is not read.
#[inline]
pub(super) fn read_hops<T: AsMut<HopMetadata>>(
    instructions: Instructions,
    bytes: &[u8],
    hop_bytes: usize,
    hops: &mut [T],
) {
    for hop in hops.iter_mut() {
        *hop.as_mut() = HopMetadata::default();
    }
    let asks_for = |bit| instructions.intersects(bit);
    // Field by field, so that each instruction is tested once and not for each hop.
    let mut reader = Reader { bytes, hop_bytes, at: 0, hops };
    if asks_for(Instructions::NODE_ID) {
        reader.words(|hop, word| hop.node_id = Some(word));
    }
    if asks_for(Instructions::INTERFACES) {
        reader.words(|hop, word| {
            let [a, b, c, d] = word.to_be_bytes();
            let (ingress, egress) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
            hop.interfaces = Some(Interfaces { ingress, egress });
        });
    }
    if asks_for(Instructions::HOP_LATENCY) {
        reader.words(|hop, word| hop.hop_latency = Some(word));
    }
    if asks_for(Instructions::QUEUE) {
        reader.words(|hop, word| {
            let (id, occupancy) = occupancy(word);
            hop.queue = Some(Queue { id, occupancy });
        });
    }
    if asks_for(Instructions::INGRESS_TIMESTAMP) {
        reader.longs(|hop, long| hop.ingress_timestamp = Some(long));
    }
    if asks_for(Instructions::EGRESS_TIMESTAMP) {
        reader.longs(|hop, long| hop.egress_timestamp = Some(long));
    }
    if asks_for(Instructions::LEVEL2_INTERFACES) {
        reader.words(|hop, word| hop.ingress_interface_level2 = Some(word));
        reader.words(|hop, word| hop.egress_interface_level2 = Some(word));
    }
    if asks_for(Instructions::EGRESS_UTILIZATION) {
        reader.words(|hop, word| hop.egress_utilization = Some(word));
    }
    if asks_for(Instructions::BUFFER) {
        reader.words(|hop, word| {
            let (id, occupancy) = occupancy(word);
            hop.buffer = Some(Buffer { id, occupancy });
        });
    }
}

/// Iterates over the fields of all hops, one field after another.
struct Reader<'a, T> {
    bytes: &'a [u8],
    hop_bytes: usize,
    /// Offset of the next field within a hop.
    at: usize,
    hops: &'a mut [T],
}

impl<T: AsMut<HopMetadata>> Reader<'_, T> {
    /// Passes to `put` the 4-byte field of each hop that has it.
    #[inline(always)]
    fn words(&mut self, put: impl Fn(&mut HopMetadata, u32)) {
        self.fields(|hop, bytes| {
            let word = u32::from_be_bytes(*bytes);
            if word != NOT_AVAILABLE {
                put(hop, word);
            }
        });
    }

    /// Passes to `put` the 8-byte field of each hop that has it.
    #[inline(always)]
    fn longs(&mut self, put: impl Fn(&mut HopMetadata, u64)) {
        self.fields(|hop, bytes| {
            let long = u64::from_be_bytes(*bytes);
            if long != u64::MAX {
                put(hop, long);
            }
        });
    }

    #[inline(always)]
    fn fields<const BYTES: usize>(&mut self, put: impl Fn(&mut HopMetadata, &[u8; BYTES])) {
        let mut at = self.at;
        for hop in self.hops.iter_mut().rev() {
            let Some(field) = self.bytes.get(at..).and_then(<[u8]>::first_chunk) else { break };
            put(hop.as_mut(), field);
            at += self.hop_bytes;
        }
        self.at += BYTES;
    }
}

/// The identifier in the upper 8 bits, and the occupancy in the lower 24.
#[inline]
const fn occupancy(word: u32) -> (u8, u32) {
    let [id, high, middle, low] = word.to_be_bytes();
    (id, u32::from_be_bytes([0, high, middle, low]))
}

#[cfg(test)]
mod tests;
