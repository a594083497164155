//! Fragments of an IPv4 packet that is too long for a link.

use inband_wire::checksum::Sum;
use inband_wire::layers::{IpVersion, Layers};

/// Frames with the fragments of the packet in `frame`, each at most `mtu` bytes; `None`: it may not be
/// fragmented.
pub(crate) fn fragments(frame: &[u8], layers: &Layers, mtu: usize) -> Option<Vec<Vec<u8>>> {
    let ip = layers.l3;
    let [flags, _] = *frame.get(ip + 6..)?.first_chunk::<2>()?;
    // Some options would have to be copied into all fragments, others only into the first.
    let is_plain = layers.ip == IpVersion::V4 && *frame.get(ip)? == 0x45;
    if !is_plain || flags & DONT_FRAGMENT != 0 {
        return None;
    }
    let first = u16::from_be_bytes(*frame.get(ip + 6..)?.first_chunk::<2>()?);
    let (offset, has_more) = (first & 0x1fff, first & MORE != 0);
    let size = mtu.checked_sub(HEADER_BYTES)? & !7;
    if size == 0 {
        return None;
    }
    let (headers, payload) = frame.get(..layers.end)?.split_at_checked(ip + HEADER_BYTES)?;
    let last = payload.len().div_ceil(size).max(1) - 1;
    let fragment = |(number, part): (usize, &[u8])| {
        let mut bytes = [headers, part].concat();
        let length = u16::try_from(HEADER_BYTES + part.len()).ok()?;
        let at = offset + u16::try_from(number * size / 8).ok()?;
        let more = if number < last || has_more { MORE } else { 0 };
        bytes.get_mut(ip + 2..ip + 4)?.copy_from_slice(&length.to_be_bytes());
        bytes.get_mut(ip + 6..ip + 8)?.copy_from_slice(&(at | more).to_be_bytes());
        bytes.get_mut(ip + 10..ip + 12)?.fill(0);
        let checksum = Sum::of(bytes.get(ip..ip + HEADER_BYTES)?).checksum();
        bytes.get_mut(ip + 10..ip + 12)?.copy_from_slice(&checksum.to_be_bytes());
        Some(bytes)
    };
    payload.chunks(size).enumerate().map(fragment).collect()
}

const HEADER_BYTES: usize = 20;
const DONT_FRAGMENT: u8 = 0x40;
const MORE: u16 = 0x2000;
