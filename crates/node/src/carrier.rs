//! Lengths and checksums of the headers around INT, updated when INT changes.

use zerocopy::byteorder::big_endian::U16;

use inband_wire::checksum::{Sum, corrected, corrected_udp};
use inband_wire::error::Header;
use inband_wire::ipv4::Ipv4Header;
use inband_wire::ipv6::{self, Ipv6Header};
use inband_wire::layers::{IpVersion, Layers, Transport};
use inband_wire::udp::UdpHeader;
use inband_wire::view::{view, view_mut};
use inband_wire::{gre, tcp};

/// What changed in the bytes that an L4 checksum covers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Change {
    /// Sum of the removed words.
    pub(crate) removed: Sum,
    /// Sum of the added words.
    pub(crate) added: Sum,
    /// Bytes added.
    pub(crate) grown: usize,
    /// Bytes removed.
    pub(crate) shrunk: usize,
}

impl Change {
    /// Both changes together.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self {
            removed: self.removed.plus(other.removed),
            added: self.added.plus(other.added),
            grown: self.grown + other.grown,
            shrunk: self.shrunk + other.shrunk,
        }
    }
}

/// Sets IP and UDP lengths for `change` and corrects the IPv4 header checksum.
#[inline]
pub(crate) fn set_lengths(bytes: &mut [u8], layers: &Layers, change: &Change) {
    let resized =
        |length: u16| length.wrapping_add(as_word(change.grown)).wrapping_sub(as_word(change.shrunk));
    match layers.ip {
        IpVersion::V4 => {
            if let Some(header) = view_mut::<Ipv4Header>(bytes, layers.l3) {
                header.set_total_length(resized(header.total_length()));
            }
        }
        IpVersion::V6 => {
            if let Some(header) = view_mut::<Ipv6Header>(bytes, layers.l3) {
                header.set_payload_length(resized(header.payload_length()));
            }
        }
    }
    if layers.transport == Transport::Udp
        && let Some(header) = view_mut::<UdpHeader>(bytes, layers.l4)
    {
        header.length = U16::new(resized(header.length.get()));
    }
}

/// Corrects the checksum of the TCP, UDP or GRE header for `change`; a UDP checksum of 0 stays.
// int-2.1/checksum-01, int-2.1/checksum-02, int-2.1/checksum-03: the update is incremental, so a wrong
// checksum stays wrong by the same difference.
#[inline]
pub(crate) fn correct_checksum(bytes: &mut [u8], layers: &Layers, change: &Change) {
    let (removed, added) = with_lengths(layers, change);
    let udp = layers.transport == Transport::Udp;
    if let Some(field) = l4_checksum_mut(bytes, layers) {
        let old = field.get();
        *field =
            U16::new(if udp { corrected_udp(old, removed, added) } else { corrected(old, removed, added) });
    }
}

/// The checksum of the TCP, UDP or GRE header; `None` where there is none.
#[cold]
pub(crate) fn l4_checksum(bytes: &mut [u8], layers: &Layers) -> Option<u16> {
    l4_checksum_mut(bytes, layers).map(|field| field.get())
}

/// The checksum field of the TCP, UDP or GRE header; `None` where there is none.
#[inline]
pub(crate) fn l4_checksum_mut<'a>(bytes: &'a mut [u8], layers: &Layers) -> Option<&'a mut U16> {
    let at = match layers.transport {
        Transport::Tcp { .. } => layers.l4 + tcp::CHECKSUM_OFFSET,
        Transport::Udp => layers.l4 + inband_wire::udp::CHECKSUM_OFFSET,
        Transport::Other if has_gre_checksum(bytes, layers) => layers.l4 + GRE_CHECKSUM_OFFSET,
        Transport::Other => return None,
    };
    view_mut::<U16>(bytes, at)
}

/// The checksum complement that compensates for `change`; `None` where there is no checksum to preserve.
// int-2.1/checksum-04
#[inline]
pub(crate) fn complement(bytes: &[u8], layers: &Layers, change: &Change) -> Option<u16> {
    let has_checksum = match layers.transport {
        Transport::Tcp { .. } => true,
        Transport::Udp => layers.udp(bytes).is_some_and(|header| header.checksum.get() != 0),
        Transport::Other => has_gre_checksum(bytes, layers),
    };
    if !has_checksum {
        return None;
    }
    let (removed, added) = with_lengths(layers, change);
    // Added minus removed words must sum to zero with the complement, which is all ones in this arithmetic.
    Some(added.plus(Sum::word(!removed.fold())).checksum())
}

/// What a growing packet must stay within, bytes of the IP packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The egress MTU; `usize::MAX` where the packet is stripped before it leaves.
    pub(crate) mtu: usize,
    /// What the length fields of the packets around it allow; `usize::MAX` where there are none.
    pub(crate) around: usize,
}

/// Whether a packet can grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// It can.
    Fits,
    /// It would exceed the egress MTU.
    ExceedsMtu,
    /// It would exceed a length field.
    ExceedsLength,
}

/// Checks whether the packet can grow by `growth` bytes within `limits` and its own length fields.
#[inline]
pub(crate) fn check_growth(bytes: &[u8], layers: &Layers, growth: usize, limits: Limits) -> Growth {
    let ip_length = layers.ip_length() + growth;
    let most = match layers.ip {
        IpVersion::V4 => MAX_LENGTH,
        IpVersion::V6 => MAX_LENGTH + ipv6::HEADER_BYTES,
    };
    let udp_fits = match layers.udp(bytes) {
        Some(header) => usize::from(header.length.get()) + growth <= MAX_LENGTH,
        None => true,
    };
    if ip_length > limits.mtu {
        Growth::ExceedsMtu
    } else if ip_length <= most && ip_length <= limits.around && udp_fits {
        Growth::Fits
    } else {
        Growth::ExceedsLength
    }
}

/// Whether a checksum field of the packet could not be restored after an incremental update.
///
/// In ones' complement arithmetic 0xffff and 0 are the same number; IPv4 and TCP send 0, UDP sends 0xffff. A
/// field that holds the other one would be changed.
#[inline]
pub(crate) fn is_ambiguous(bytes: &[u8], layers: &Layers) -> bool {
    let is_all_ones = |at: usize| bytes.get(at..at + 2) == Some(&[0xff, 0xff]);
    let ipv4 = layers.ip == IpVersion::V4 && is_all_ones(layers.l3 + IPV4_CHECKSUM_OFFSET);
    let tcp =
        matches!(layers.transport, Transport::Tcp { .. }) && is_all_ones(layers.l4 + tcp::CHECKSUM_OFFSET);
    let gre = has_gre_checksum(bytes, layers) && is_all_ones(layers.l4 + GRE_CHECKSUM_OFFSET);
    ipv4 || tcp || gre
}

/// The largest value of a 16-bit length field.
pub(crate) const MAX_LENGTH: usize = u16::MAX as usize;
const IPV4_CHECKSUM_OFFSET: usize = 10;
const GRE_CHECKSUM_OFFSET: usize = 4;

/// Adds to `change` the effect of its lengths on the sum: once in the pseudo-header of TCP, twice for UDP,
/// whose own length field is covered too.
#[inline]
fn with_lengths(layers: &Layers, change: &Change) -> (Sum, Sum) {
    let (grown, shrunk) = (Sum::word(as_word(change.grown)), Sum::word(as_word(change.shrunk)));
    match layers.transport {
        Transport::Tcp { .. } => (change.removed.plus(shrunk), change.added.plus(grown)),
        Transport::Udp => (change.removed.plus(shrunk).plus(shrunk), change.added.plus(grown).plus(grown)),
        Transport::Other => (change.removed, change.added),
    }
}

pub(crate) fn has_gre_checksum(bytes: &[u8], layers: &Layers) -> bool {
    layers.protocol == gre::PROTOCOL
        && view::<gre::GreHeader>(bytes, layers.l4, Header::Gre).is_ok_and(gre::GreHeader::has_checksum)
}

/// A number of bytes that INT adds or removes; at most 1,080, so it fits.
#[inline]
fn as_word(bytes: usize) -> u16 {
    u16::try_from(bytes).unwrap_or(u16::MAX)
}
