//! The outermost header of a reported packet.

use inband_wire::ipv4::Ipv4Header;
use inband_wire::ipv6::Ipv6Header;
use inband_wire::layers::IpVersion;
use inband_wire::view::view;
use inband_wire::{Header, Layers};
use serde::{Deserialize, Serialize};

/// The fields of the outermost header of a reported packet.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outer {
    /// TTL or hop limit.
    pub(super) ttl: Option<u8>,
    /// Length of the whole packet, bytes; 0 where it is unknown.
    pub(super) bytes: u32,
    pub(super) identity: Option<PacketIdentity>,
}

/// The identity of a packet within its flow, which no node changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum PacketIdentity {
    /// Fields of its outermost headers.
    Headers { identification: u16, l4_checksum: u16 },
    /// The number that its source inserted.
    Number(u32),
}

impl Outer {
    #[inline]
    pub(super) fn read(packet: &[u8], layers: &Layers) -> Outer {
        match layers.ip {
            IpVersion::V4 => {
                let Ok(header) = view::<Ipv4Header>(packet, layers.l3, Header::Ipv4) else {
                    return Outer::default();
                };
                Outer {
                    ttl: Some(header.ttl),
                    bytes: header.total_length().into(),
                    identity: identity(packet, layers, header.identification.get()),
                }
            }
            IpVersion::V6 => {
                let Ok(header) = view::<Ipv6Header>(packet, layers.l3, Header::Ipv6) else {
                    return Outer::default();
                };
                let bytes = u32::from(header.payload_length()) + IPV6_BYTES;
                // Only fragments have an identification.
                Outer { ttl: Some(header.hop_limit), bytes, identity: None }
            }
        }
    }
}

/// `None` where the packet has no checksum, as its number alone would not identify it, and where its number
/// is 0: a source that does not number its packets (RFC 6864) gives equal ones the same checksum.
#[inline]
fn identity(packet: &[u8], layers: &Layers, identification: u16) -> Option<PacketIdentity> {
    let udp = layers.udp(packet).map(|udp| udp.checksum.get());
    let l4_checksum = udp.or_else(|| layers.tcp(packet).map(|tcp| tcp.checksum.get()))?;
    (l4_checksum != 0 && identification != 0)
        .then_some(PacketIdentity::Headers { identification, l4_checksum })
}

/// Length of the IPv6 header, which its payload length does not include.
const IPV6_BYTES: u32 = 40;
