//! Host-INT headers, recognised by their shape.
//!
//! Host-INT is marked by a single DSCP bit, which is weak evidence. Its headers are accepted after that mark
//! only if they have the shape that every Host-INT source writes: type 3, 9 words, 4 instructions, bitmap
//! 0xcc00, one hop of two, 36 bytes in all.

use crate::error::Header;
use crate::int::earlier::header_0_5::HeaderV0_5;
use crate::int::earlier::recognise::HEADER_BYTES;
use crate::int::earlier::shim::{HOST_INT, SHIM_BYTES, Shim};
use crate::int::earlier::tail::TAIL_BYTES;
use crate::view::view;
use crate::words::Words;

/// The instructions of Host-INT: node id, ports, ingress and egress timestamp.
// host-int-0.5/packet-09
pub const INSTRUCTION_BITMAP: u16 = 0xcc00;
/// Length of the metadata of one hop.
pub const HOP_WORDS: Words = Words::new(4);
/// Max Hop Count of a Host-INT source: itself and the sink.
pub const MAX_HOP_COUNT: u8 = 2;
/// Length of the sequence number after the stack, bytes.
pub const SEQUENCE_BYTES: usize = 4;
/// Length of the bytes a source inserts: shim, header, one hop, sequence number, tail.
pub const INSERTED_BYTES: usize = SHIM_BYTES + HEADER_BYTES + HOP_WORDS.bytes() + SEQUENCE_BYTES + TAIL_BYTES;
/// Length of the shim and all that follows, as a source writes it in the shim.
pub const INSERTED_WORDS: Words = Words::new(9);

/// Whether the bytes from byte `at` on have the shape of a Host-INT source.
#[must_use]
pub fn is_source_shape(bytes: &[u8], at: usize) -> bool {
    let (Ok(shim), Ok(header)) = (
        view::<Shim>(bytes, at, Header::Shim),
        view::<HeaderV0_5>(bytes, at + SHIM_BYTES, Header::IntMetadata),
    ) else {
        return false;
    };
    // host-int-0.5/packet-12: reserved fields may have any value.
    shim.kind() == HOST_INT
        && shim.length() == INSERTED_WORDS
        && header.version() == 0
        && header.replication() == 0
        && header.instruction_count() == HOP_WORDS.count()
        && header.instruction_bitmap() == INSTRUCTION_BITMAP
        && header.max_hop_count() >= header.total_hop_count()
        && header.total_hop_count() == 1
}

/// Creates the metadata header of a Host-INT source, with its own hop counted.
#[must_use]
pub fn source_header() -> HeaderV0_5 {
    let mut header = HeaderV0_5::new(INSTRUCTION_BITMAP, MAX_HOP_COUNT);
    header.set_total_hop_count(1);
    header
}

#[cfg(test)]
mod tests;
