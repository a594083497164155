//! `inband decode`: the INT packets and telemetry reports of a capture.

mod options;
mod packet;

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Error};
use inband_capture::Record;
use inband_explain::Options;

use crate::failure::Failure;
use crate::input::{Input, is_dash};
use crate::note::note;
use crate::stdout::Stdout;
use crate::unread::Unread;
use options::OptionsArgs;
use packet::Packet;

/// Show every INT packet and telemetry report of a capture file.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Capture file, pcap or pcapng; `-` is stdin.
    file: PathBuf,
    /// Print one JSON object per line instead of a block of text per packet.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    options: OptionsArgs,
}

const EXAMPLES: &str = "\
Examples:
  inband decode capture.pcap
  inband decode --json capture.pcapng | jq '.int[].hops'
  tcpdump -i eth0 -U -w - | inband decode --dscp 0x20/0x20 -

Every option that names a code point may be given more than once and replaces the default.
Numbers may be written in hexadecimal.";

/// Decodes the file to stdout.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let options = args.options.resolve()?;
    let mut input = Input::open(&args.file)?;
    let stdout = Stdout::new();
    // With stdin as input, or on a terminal, each packet is shown as it arrives.
    let live = is_dash(&args.file) || stdout.is_terminal();
    let mut out = BufWriter::with_capacity(OUT_BYTES, stdout);
    let result = decode(&mut input, &options, args.json, live, &mut out);
    // Packets read before an error are shown before the error.
    out.flush().context(WRITE)?;
    let (packets, shown, unread) = result?;
    unread.report(&input.name)?;
    if shown == 0 {
        note!("{}: {packets} packets read, none with INT or a telemetry report", input.name);
    }
    Ok(())
}

/// Returns how many packets were read, how many of them were shown, and which have an unknown link type.
fn decode(
    input: &mut Input,
    options: &Options,
    json: bool,
    live: bool,
    out: &mut impl Write,
) -> Result<(u64, u64, Unread), Error> {
    let mut record = Record::default();
    let (mut shown, mut unread) = (0, Unread::default());
    while input.read_record(&mut record)? {
        unread.note(&record);
        let Some(packet) = Packet::read(&record, options) else { continue };
        shown += 1;
        if json { packet.write_json(out) } else { packet.write_text(out) }.context(WRITE)?;
        if live {
            out.flush().context(WRITE)?;
        }
    }
    Ok((record.number, shown, unread))
}

const WRITE: &str = "cannot write the output";
const OUT_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests;
