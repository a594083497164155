//! Checksums left to a device, recognised by their value alone.
//!
//! A program at XDP is not told which they are. Until a device completes it, a checksum field holds the
//! folded sum of the pseudo-header, which is a correct checksum for only one packet in 65,536.

use inband_wire::checksum::pseudo_header;
use inband_wire::layers::{Fragment, Layers, Strictness, Transport};

use super::{checksum, segment};

/// Completes the checksum of a packet from a virtual interface, if its sender left it incomplete; in a tunnel
/// that of the innermost packet.
pub(crate) fn complete_left(frame: &mut [u8], outermost: &Layers) {
    let mut layers = *outermost;
    for _ in 0..segment::MAX_TUNNELS {
        if complete_one(frame, &layers).is_some() {
            return;
        }
        let behind = segment::behind(frame, &layers)
            .and_then(|(link, at)| Layers::parse_at(link, frame, at, Strictness::Truncated).ok().flatten());
        match behind {
            Some(inner) => layers = inner,
            None => return,
        }
    }
}

/// Completes the checksum of one packet; `None`: it needs no completion.
fn complete_one(frame: &mut [u8], layers: &Layers) -> Option<()> {
    let offset = match layers.transport {
        Transport::Tcp { .. } => 16,
        Transport::Udp => 6,
        _ => return None,
    };
    let field: [u8; 2] = *frame.get(layers.l4 + offset..)?.first_chunk()?;
    if layers.fragment != Fragment::Whole || layers.end > frame.len() {
        return None;
    }
    let (source, destination) = layers.addresses(frame);
    let pseudo = pseudo_header(source, destination, layers.protocol, layers.end.checked_sub(layers.l4)?);
    if u16::from_be_bytes(field) != pseudo.fold() {
        return None;
    }
    let covered = frame.get_mut(..layers.end)?;
    // It may be correct already.
    if pseudo.plus(inband_wire::checksum::Sum::of(covered.get(layers.l4..)?)).fold() == u16::MAX {
        return None;
    }
    checksum::complete(covered, layers.l4, offset)
}
