//! A packet of a capture with its description, as a line of JSON or a block of text.

use std::io::{self, Write};

use inband_capture::{Record, start};
use inband_explain::{Description, Frame, Options, date, describe};
use serde::Serialize;

/// A packet that carries, or claims to carry, INT or a report.
#[derive(Debug)]
pub(super) struct Packet<'a> {
    record: &'a Record,
    description: Description,
}

/// A line of `decode --json`.
#[derive(Serialize)]
struct Line<'a> {
    packet: u64,
    time: u64,
    #[serde(flatten)]
    description: &'a Description,
}

impl<'a> Packet<'a> {
    /// Reads the packet in `record`; `None` when it carries neither INT nor a report.
    pub(super) fn read(record: &'a Record, options: &Options) -> Option<Self> {
        let (link, start) = start(record.link_type, &record.data)?;
        let frame = Frame { bytes: &record.data, start, link, is_cut: record.is_cut() };
        describe(frame, options).map(|description| Self { record, description })
    }

    /// Prints the packet as one line.
    pub(super) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { record, description } = self;
        let line = Line { packet: record.number, time: record.captured_at_ns, description };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")
    }

    /// Prints the packet as one block, followed by an empty line.
    pub(super) fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { record, description } = self;
        let cut = if record.is_cut() { format!(" of {}", record.original_length) } else { String::new() };
        writeln!(
            out,
            "Packet {}, captured {}, {}{cut} bytes, {}\n{description}",
            record.number,
            date(record.captured_at_ns),
            record.data.len(),
            record.link_type
        )
    }
}
