//! The bytes of a message about the path MTU.

use std::net::IpAddr;

use zerocopy::IntoBytes;
use zerocopy::byteorder::big_endian::U16;

use inband_wire::checksum::{Sum, pseudo_header};
use inband_wire::icmp::{self, PacketTooBig};
use inband_wire::ipv4::{self, Ipv4Header};
use inband_wire::ipv6::{self, Ipv6Header};
use inband_wire::layers::{Layers, Link};

/// The original packet, as its sender sent it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Original<'a> {
    pub(crate) link: Link,
    pub(crate) bytes: &'a [u8],
    pub(crate) layers: &'a Layers,
    /// Identifier of its ingress interface.
    pub(crate) ingress: u16,
}

/// Writes the message from `own` to the sender of `original`; `None` if it cannot be written.
pub(super) fn write(original: &Original<'_>, own: IpAddr, mtu: usize, dscp: u8) -> Option<Vec<u8>> {
    let Original { bytes, layers, .. } = *original;
    let mtu = u16::try_from(mtu).unwrap_or(u16::MAX);
    let packet = bytes.get(layers.l3..layers.end.min(bytes.len()))?;
    let quoted = |most: usize| packet.get(..packet.len().min(most)).unwrap_or(packet);
    let (sender, _) = layers.addresses(bytes);
    let mut out = ethernet(original)?;
    match (own, sender) {
        (IpAddr::V4(own), IpAddr::V4(sender)) => {
            // RFC 1812, section 4.3.2.3: as much as possible, up to 576 bytes in all.
            let quoted = quoted(MAX_BYTES_V4 - ipv4::HEADER_BYTES - icmp::HEADER_BYTES);
            let message = message(PacketTooBig::v4(mtu), Sum::ZERO, quoted);
            let length = u16::try_from(ipv4::HEADER_BYTES + message.len()).ok()?;
            let mut header = Ipv4Header::new(own, sender, icmp::PROTOCOL, length);
            header.set_dscp(dscp);
            out.extend_from_slice(header.as_bytes());
            out.extend_from_slice(&message);
        }
        (IpAddr::V6(own), IpAddr::V6(sender)) => {
            // RFC 4443, section 2.4 (c): as much as possible within the minimum MTU of IPv6.
            let quoted = quoted(MAX_BYTES_V6 - ipv6::HEADER_BYTES - icmp::HEADER_BYTES);
            let length = icmp::HEADER_BYTES + quoted.len();
            let pseudo = pseudo_header(own.into(), sender.into(), icmp::V6_PROTOCOL, length);
            let message = message(PacketTooBig::v6(mtu), pseudo, quoted);
            let mut header = Ipv6Header::new(own, sender, icmp::V6_PROTOCOL, u16::try_from(length).ok()?);
            header.set_dscp(dscp);
            out.extend_from_slice(header.as_bytes());
            out.extend_from_slice(&message);
        }
        _ => return None,
    }
    Some(out)
}

/// The Ethernet header of the packet with swapped addresses and unchanged VLAN tags.
fn ethernet(original: &Original<'_>) -> Option<Vec<u8>> {
    match original.link {
        Link::Ip => Some(Vec::new()),
        Link::Ethernet => {
            let header = original.bytes.get(..original.layers.l3)?;
            let (destination, rest) = header.split_at_checked(6)?;
            let (source, rest) = rest.split_at_checked(6)?;
            // A message is always unicast, whatever address the sender claimed.
            (source.first()? & 1 == 0).then(|| [source, own_address(destination), rest].concat())
        }
    }
}

/// The address the packet was sent to, unless it is a group address.
fn own_address(destination: &[u8]) -> &[u8] {
    match destination.first() {
        Some(first) if first & 1 != 0 => &[0x02, 0, 0, 0, 0, 0],
        _ => destination,
    }
}

fn message(mut header: PacketTooBig, pseudo: Sum, quoted: &[u8]) -> Vec<u8> {
    let sum = pseudo.plus(Sum::of(header.as_bytes())).plus(Sum::of(quoted));
    header.checksum = U16::new(sum.checksum());
    [header.as_bytes(), quoted].concat()
}

const MAX_BYTES_V4: usize = 576;
const MAX_BYTES_V6: usize = 1280;
