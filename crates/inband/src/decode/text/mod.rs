//! Packets as people read them: one block per packet, headers and hops indented.

mod block;
mod drops;
mod earlier_int;
mod earlier_report;
mod int;
mod metadata;
mod report;

use std::io::{self, Write};

use self::block::{Block, date};
use super::packet::{Content, Packet};

/// Prints the packet as one block, followed by an empty line.
pub(super) fn write(packet: &Packet<'_>, out: &mut impl Write) -> io::Result<()> {
    let record = packet.record;
    let mut block = Block { out };
    let cut = if record.is_cut() { format!(" of {}", record.original_length) } else { String::new() };
    block.line(
        0,
        format_args!(
            "Packet {}, captured {}, {}{cut} bytes, {}",
            record.number,
            date(record.captured_at_ns),
            record.data.len(),
            record.link_type
        ),
    )?;
    match &packet.content {
        Content::Int(int) => int::write(int, packet.base, &mut block)?,
        Content::Report(report) => report::write(report, packet.base, &mut block)?,
        Content::Malformed(error) => {
            block.line(1, format_args!("Malformed: {error}"))?;
            if record.is_cut() {
                block.line(1, "The capture kept only the beginning of this packet")?;
            }
        }
    }
    writeln!(block.out)
}
