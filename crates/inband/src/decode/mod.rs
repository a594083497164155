//! `inband decode`: which INT packets and telemetry reports are in this capture?

mod hop;
mod json;
mod names;
mod options;
mod packet;
mod read;
mod text;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error};
use inband::capture::{Reader, Record, Start, start};
use inband_wire::Link;

use crate::failure::Failure;
use options::{Options, OptionsArgs};

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
    let from_stdin = args.file == Path::new("-");
    let name = if from_stdin { "stdin".to_owned() } else { args.file.display().to_string() };
    let source: Box<dyn Read> = if from_stdin {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(&args.file).with_context(|| format!("cannot open {name}"))?)
    };
    let stdout = io::stdout().lock();
    // Whoever watches packets arrive wants to see each at once.
    let live = from_stdin || stdout.is_terminal();
    let mut out = BufWriter::with_capacity(OUT_BYTES, stdout);
    let result =
        decode(BufReader::with_capacity(IN_BYTES, source), &name, &options, args.json, live, &mut out);
    // What was read before an error is shown before the error.
    out.flush().context(WRITE)?;
    let (packets, shown) = result?;
    if shown == 0 {
        eprintln!("{name}: {packets} packets read, none with INT or a telemetry report");
    }
    Ok(())
}

/// Returns how many packets were read, and how many of them shown.
fn decode(
    source: impl Read,
    name: &str,
    options: &Options,
    json: bool,
    live: bool,
    out: &mut impl Write,
) -> Result<(u64, u64), Error> {
    let mut reader = Reader::new(source).with_context(|| name.to_owned())?;
    let mut record = Record::default();
    let mut shown = 0;
    while reader.read_record(&mut record).with_context(|| name.to_owned())? {
        let Some((link, at)) = link(&record) else { continue };
        let Some(packet) = read::read(&record, link, at, options) else { continue };
        shown += 1;
        if json { json::write(&packet, out) } else { text::write(&packet, out) }.context(WRITE)?;
        if live {
            out.flush().context(WRITE)?;
        }
    }
    Ok((record.number, shown))
}

/// What the packet in `record` starts with, and where; `None` when it is not IP.
fn link(record: &Record) -> Option<(Link, usize)> {
    match start(record.link_type, &record.data) {
        Start::Ethernet(at) => Some((Link::Ethernet, at)),
        Start::Ip(at) => Some((Link::Ip, at)),
        Start::NotIp => None,
    }
}

const WRITE: &str = "cannot write the output";
const IN_BYTES: usize = 256 * 1024;
const OUT_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests;
