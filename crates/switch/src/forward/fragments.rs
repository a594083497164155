//! Fragments of an IPv4 packet that is too long for a link.

use inband_wire::checksum::Sum;
use inband_wire::layers::{IpVersion, Layers};

/// Frames with the fragments of the packet in `frame`, each at most `mtu` bytes; `None`: it may not be
/// fragmented.
pub(crate) fn fragments(frame: &[u8], layers: &Layers, mtu: usize) -> Option<Vec<Vec<u8>>> {
    let ip = layers.l3;
    let [flags, _] = *frame.get(ip + 6..)?.first_chunk::<2>()?;
    if layers.ip != IpVersion::V4 || flags & DONT_FRAGMENT != 0 {
        return None;
    }
    let first = u16::from_be_bytes(*frame.get(ip + 6..)?.first_chunk::<2>()?);
    let (offset, has_more) = (first & 0x1fff, first & MORE != 0);
    let (headers, payload) = frame.get(..layers.end)?.split_at_checked(layers.l4)?;
    let (headers, options) = headers.split_at_checked(ip + HEADER_BYTES)?;
    let size = mtu.checked_sub(HEADER_BYTES + options.len())? & !7;
    if size == 0 {
        return None;
    }
    let copied = copied(options);
    let last = payload.len().div_ceil(size).max(1) - 1;
    let fragment = |(number, part): (usize, &[u8])| {
        let options = if number == 0 { options } else { copied.as_slice() };
        let header_bytes = HEADER_BYTES + options.len();
        let mut bytes = [headers, options, part].concat();
        let length = u16::try_from(header_bytes + part.len()).ok()?;
        let at = offset + u16::try_from(number * size / 8).ok()?;
        let more = if number < last || has_more { MORE } else { 0 };
        *bytes.get_mut(ip)? = VERSION | u8::try_from(header_bytes / 4).ok()?;
        bytes.get_mut(ip + 2..ip + 4)?.copy_from_slice(&length.to_be_bytes());
        bytes.get_mut(ip + 6..ip + 8)?.copy_from_slice(&(at | more).to_be_bytes());
        bytes.get_mut(ip + 10..ip + 12)?.fill(0);
        let checksum = Sum::of(bytes.get(ip..ip + header_bytes)?).checksum();
        bytes.get_mut(ip + 10..ip + 12)?.copy_from_slice(&checksum.to_be_bytes());
        Some(bytes)
    };
    payload.chunks(size).enumerate().map(fragment).collect()
}

/// The options that belong into every fragment, padded: RFC 791, 3.1. What follows an option with an
/// impossible length is in the first fragment alone.
fn copied(options: &[u8]) -> Vec<u8> {
    let (mut copied, mut rest) = (Vec::new(), options);
    while let Some(kind) = rest.first().copied().filter(|kind| *kind != END_OF_OPTIONS) {
        let length = match kind {
            NO_OPERATION => 1,
            _ => rest.get(1).copied().map_or(0, usize::from),
        };
        let is_possible = length >= MIN_OPTION_BYTES || kind == NO_OPERATION;
        let Some((option, behind)) = rest.split_at_checked(length).filter(|_| is_possible) else { break };
        if kind & COPIED != 0 {
            copied.extend_from_slice(option);
        }
        rest = behind;
    }
    copied.resize(copied.len().next_multiple_of(4), END_OF_OPTIONS);
    copied
}

const VERSION: u8 = 0x40;
const HEADER_BYTES: usize = 20;
/// Kinds of options of one byte; others have a length.
const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const MIN_OPTION_BYTES: usize = 2;
/// The bit of a kind that belongs into every fragment.
const COPIED: u8 = 0x80;
const DONT_FRAGMENT: u8 = 0x40;
const MORE: u16 = 0x2000;

#[cfg(test)]
mod tests;
