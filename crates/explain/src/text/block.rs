//! The lines of a description, and the phrases that its parts share.

use std::fmt::{self, Display, Write};
use std::net::SocketAddr;
use std::time::{Duration, UNIX_EPOCH};

use inband_wire::FiveTuple;

/// Writes indented lines.
pub(super) struct Block<'a, W> {
    pub(super) out: &'a mut W,
}

impl<W: Write> Block<'_, W> {
    /// Writes one line, indented by four spaces per level.
    pub(super) fn line(&mut self, depth: usize, text: impl Display) -> fmt::Result {
        writeln!(self.out, "{:width$}{text}", "", width = depth * 4)
    }
}

/// `10.0.0.1:1234 > 10.0.0.2:80, TCP`
pub(super) fn flow(flow: &FiveTuple) -> String {
    let FiveTuple { source, destination, protocol, source_port, destination_port } = *flow;
    let protocol_name = protocol_name(protocol);
    if source_port == 0 && destination_port == 0 {
        return format!("{source} > {destination}, {protocol_name}");
    }
    let (source, destination) =
        (SocketAddr::new(source, source_port), SocketAddr::new(destination, destination_port));
    format!("{source} > {destination}, {protocol_name}")
}

/// The name of an IP protocol, or its number.
pub(super) fn protocol_name(protocol: u8) -> String {
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

/// A time since 1970 as a date in UTC, to the nanosecond.
#[must_use]
pub fn date(since_1970_ns: u64) -> String {
    humantime::format_rfc3339_nanos(UNIX_EPOCH + Duration::from_nanos(since_1970_ns)).to_string()
}

/// A count with its noun.
pub(super) fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A flag in words.
pub(super) fn yes_no(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}
