//! Completion of frames that were never on a wire: tags, checksums, segments.

mod checksum;
mod partial;
mod segment;

#[cfg(test)]
mod tests;

use inband_linux::frames::Received;

use crate::counts::Cause;
use crate::packet::{Packet, Pool};

pub(crate) use self::partial::complete_left;

/// Passes the frames that `received` would be on a wire to `take`, in their order.
///
/// # Errors
/// Why there are none.
pub(crate) fn finish(
    received: &Received<'_>,
    pool: &mut Pool,
    mut take: impl FnMut(Packet, &mut Pool),
) -> Result<(), Cause> {
    if received.is_cut || received.bytes.len() < ETHERNET_BYTES {
        return Err(Cause::Malformed);
    }
    let mut packet = tagged(received, pool);
    let shift = packet.len() - received.bytes.len();
    if let Some((segments, size)) = received.unfinished.segments {
        let l4 = received.unfinished.checksum.map(|(start, _)| start + shift);
        let cut = segment::cut(packet.bytes(), segments, size, l4, pool, &mut take);
        pool.give_back(packet);
        return if cut.is_some() { Ok(()) } else { Err(Cause::Segmentation) };
    }
    if let Some((start, offset)) = received.unfinished.checksum {
        checksum::complete(packet.bytes_mut(), start + shift, offset).ok_or(Cause::Malformed)?;
    }
    take(packet, pool);
    Ok(())
}

/// The frame with its VLAN tag in place.
fn tagged(received: &Received<'_>, pool: &mut Pool) -> Packet {
    let (Some((protocol, contents)), Some((addresses, rest))) =
        (received.vlan, received.bytes.split_at_checked(ADDRESS_BYTES))
    else {
        return pool.packet(&[received.bytes]);
    };
    pool.packet(&[addresses, &protocol.to_be_bytes(), &contents.to_be_bytes(), rest])
}

const ETHERNET_BYTES: usize = 14;
/// The two addresses of a frame.
const ADDRESS_BYTES: usize = 12;
