//! How does `decode` show a packet to people? One block per packet, headers and hops indented.

mod earlier_int;
mod earlier_report;
mod int;
mod metadata;
mod report;

use std::fmt::Display;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::{Duration, UNIX_EPOCH};

use inband_wire::FiveTuple;

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

/// Writes lines at a depth.
struct Block<'a, W> {
    out: &'a mut W,
}

impl<W: Write> Block<'_, W> {
    fn line(&mut self, depth: usize, text: impl Display) -> io::Result<()> {
        writeln!(self.out, "{:width$}{text}", "", width = depth * 4)
    }
}

/// `10.0.0.1:1234 > 10.0.0.2:80, TCP`
fn flow(flow: &FiveTuple) -> String {
    let FiveTuple { source, destination, protocol, source_port, destination_port } = *flow;
    let protocol_name = protocol_name(protocol);
    if source_port == 0 && destination_port == 0 {
        return format!("{source} > {destination}, {protocol_name}");
    }
    let (source, destination) =
        (SocketAddr::new(source, source_port), SocketAddr::new(destination, destination_port));
    format!("{source} > {destination}, {protocol_name}")
}

fn protocol_name(protocol: u8) -> String {
    match protocol {
        1 => "ICMP".to_owned(),
        4 => "IPv4".to_owned(),
        6 => "TCP".to_owned(),
        17 => "UDP".to_owned(),
        41 => "IPv6".to_owned(),
        47 => "GRE".to_owned(),
        58 => "ICMPv6".to_owned(),
        other => format!("IP protocol {other}"),
    }
}

/// A time since 1970 as a date in UTC.
fn date(since_1970_ns: u64) -> String {
    humantime::format_rfc3339_nanos(UNIX_EPOCH + Duration::from_nanos(since_1970_ns)).to_string()
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
