//! INT headers of versions before 2.0.

use std::fmt::{self, Write};

use inband_wire::int::Version;
use inband_wire::int::domain::set_bits;
use inband_wire::int::earlier::HopCounts;

use super::block::{Block, plural, yes_no};
use super::metadata;
use crate::names;
use crate::packet::HopByHopBody;

/// Prints the header, which starts at byte `at`, and its stack.
pub(super) fn write<W: Write>(
    header: &HopByHopBody,
    at: usize,
    depth: usize,
    block: &mut Block<'_, W>,
) -> fmt::Result {
    let version = header.version.name();
    block.line(depth, format_args!("INT metadata header at byte {at}, version {version}"))?;
    let inside = depth + 1;
    block.line(inside, format_args!("Replication (Rep): {}", header.replication))?;
    block.line(inside, format_args!("Copy (C): {}", yes_no(header.copy)))?;
    block.line(
        inside,
        format_args!("Max hop count exceeded (E): {}", yes_no(header.max_hop_count_exceeded)),
    )?;
    if let Some(mtu_exceeded) = header.mtu_exceeded {
        block.line(inside, format_args!("MTU exceeded (M): {}", yes_no(mtu_exceeded)))?;
    }
    write_hop_counts(header, inside, block)?;
    block.line(inside, format_args!("Instruction bitmap: {:#06x}", header.instruction_bitmap))?;
    for bit in set_bits(header.instruction_bitmap) {
        let name = names::earlier_instruction(header.layout, bit);
        block.line(inside + 1, format_args!("bit {bit}: {name}"))?;
    }
    write_stack(header, depth, block)?;
    match (header.sequence, header.version) {
        (Some(sequence), Version::HostInt0_5) => {
            block.line(depth, format_args!("Sequence number of the flow: {sequence}"))
        }
        (Some(sequence), _) => block.line(depth, format_args!("Number of the packet: {sequence}")),
        (None, _) => Ok(()),
    }
}

fn write_hop_counts<W: Write>(header: &HopByHopBody, depth: usize, block: &mut Block<'_, W>) -> fmt::Result {
    let words = usize::from(header.hop_ml.count());
    match header.hop_counts {
        HopCounts::Remaining(remaining) => {
            let words = plural(words, "word");
            let bytes = header.hop_ml.bytes();
            block.line(depth, format_args!("Hop ML: {words}, every hop adds {bytes} bytes"))?;
            let remaining = plural(remaining.into(), "more hop");
            block.line(depth, format_args!("Remaining hop count: {remaining} may add metadata"))
        }
        HopCounts::Total { most, total } => {
            let count = header.instruction_bitmap.count_ones();
            block.line(depth, format_args!("Instruction count: {count}"))?;
            block.line(depth, format_args!("Hop count: {total} of at most {most}"))
        }
    }
}

fn write_stack<W: Write>(header: &HopByHopBody, depth: usize, block: &mut Block<'_, W>) -> fmt::Result {
    let count = header.stack.hop_count;
    let order = if count > 1 { ", the last hop of the path first" } else { "" };
    block.line(depth, format_args!("Metadata stack: {}{order}", plural(count, "hop")))?;
    for (index, hop) in header.stack.hops.iter().enumerate() {
        block.line(depth + 1, format_args!("Hop {}", count.saturating_sub(index)))?;
        metadata::write(&hop.values, depth + 2, block)?;
    }
    match header.stack.missing() {
        0 => Ok(()),
        missing => block.line(depth + 1, format_args!("{} more, cut off here", plural(missing, "hop"))),
    }
}
