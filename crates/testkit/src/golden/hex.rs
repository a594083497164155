//! A readable text format for packets.
//!
//! ```text
//! link 101                       # only where the link type is not Ethernet
//!
//! # a comment
//! @ 1700000000.000000000         # seconds since 1970; without it, one second after the packet before
//! 4500 0021 0000 4000
//! ```
//!
//! An empty line ends a packet.

use std::fmt::{self, Write};

use super::annotate::annotate;

/// Packets of one link type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The link type's number, 1 for Ethernet.
    pub link_type: u32,
    /// The packets, in order.
    pub packets: Vec<Packet>,
}

/// One packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When it was captured, nanoseconds since 1970.
    pub captured_at_ns: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Capture {
    /// Reads the text.
    ///
    /// # Errors
    /// The first line that is not a comment, link type, time or bytes.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut capture = Self { link_type: 1, packets: Vec::new() };
        let mut open: Option<Packet> = None;
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = || format!("line {number} is no comment, link type, time or bytes: {line}");
            if line.trim().is_empty() {
                capture.packets.extend(open.take());
                continue;
            }
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Some(link_type) = line.strip_prefix("link ") {
                capture.link_type = link_type.parse().map_err(|_| wrong())?;
                continue;
            }
            let packet = open.get_or_insert_with(|| capture.next());
            if let Some(time) = line.strip_prefix("@ ") {
                packet.captured_at_ns = parse_time(time).ok_or_else(wrong)?;
            } else {
                parse_bytes(line, &mut packet.bytes).ok_or_else(wrong)?;
            }
        }
        capture.packets.extend(open);
        Ok(capture)
    }

    /// An empty packet one second after the previous one.
    fn next(&self) -> Packet {
        let captured_at_ns = self.packets.last().map_or(START_NS, |last| last.captured_at_ns + SECOND_NS);
        Packet { captured_at_ns, bytes: Vec::new() }
    }
}

impl fmt::Display for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.link_type != 1 {
            writeln!(f, "link {}\n", self.link_type)?;
        }
        for (number, packet) in (1..).zip(&self.packets) {
            if number > 1 {
                f.write_char('\n')?;
            }
            let (seconds, fraction) = (packet.captured_at_ns / SECOND_NS, packet.captured_at_ns % SECOND_NS);
            writeln!(f, "# Packet {number}, {} bytes", packet.bytes.len())?;
            writeln!(f, "@ {seconds}.{fraction:09}")?;
            for (label, bytes) in annotate(self.link_type, &packet.bytes) {
                writeln!(f, "# {label}")?;
                write_bytes(f, bytes)?;
            }
        }
        Ok(())
    }
}

/// Lines of sixteen bytes, in pairs.
fn write_bytes(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    for line in bytes.chunks(16) {
        for (index, pair) in line.chunks(2).enumerate() {
            if index > 0 {
                f.write_char(' ')?;
            }
            pair.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        }
        f.write_char('\n')?;
    }
    Ok(())
}

fn parse_time(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
    let digits = u32::try_from(fraction.len()).ok().filter(|digits| *digits <= 9)?;
    let fraction: u64 = fraction.parse().ok()?;
    seconds.parse::<u64>().ok()?.checked_mul(SECOND_NS)?.checked_add(fraction * 10_u64.pow(9 - digits))
}

fn parse_bytes(line: &str, bytes: &mut Vec<u8>) -> Option<()> {
    let digits = line
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<Vec<_>>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    bytes.extend(pairs.iter().map(|[high, low]| high << 4 | low));
    Some(())
}

const SECOND_NS: u64 = 1_000_000_000;
/// The time of a first packet without one: 2023-11-14T22:13:20Z.
const START_NS: u64 = 1_700_000_000 * SECOND_NS;

#[cfg(test)]
mod tests;
