//! A router's ICMP messages about packets that it does not forward.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use inband_wire::checksum::Sum;
use inband_wire::layers::{Fragment, IpVersion, Layers};

/// The content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The packet's time to live is used up.
    TimeExceeded,
    /// No route leads to its destination.
    NoRoute,
    /// The destination, or the next hop to it, does not answer.
    HostUnreachable,
    /// A route forbids it.
    Prohibited,
    /// It is longer than the next link's MTU, which is this many bytes.
    TooBig(u16),
}

/// A message to the sender of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reply<'a> {
    pub(crate) message: Message,
    /// The packet, with its Ethernet header.
    pub(crate) frame: &'a [u8],
    pub(crate) layers: &'a Layers,
    /// The address of the switch that sends it.
    pub(crate) from: IpAddr,
}

impl Reply<'_> {
    /// The message as a frame to the packet's sender; `None`: no message may be sent.
    pub(crate) fn frame(&self) -> Option<Vec<u8>> {
        let (source, destination) = self.layers.addresses(self.frame);
        if !self.may_be_answered(source, destination) {
            return None;
        }
        let (link, _) = self.frame.split_at_checked(self.layers.l3)?;
        let mut reply = link.to_vec();
        // Back to the station that sent it, from the station that received it.
        let addresses = self.frame.first_chunk::<12>()?;
        reply.get_mut(..6)?.copy_from_slice(addresses.get(6..)?);
        reply.get_mut(6..12)?.copy_from_slice(addresses.get(..6)?);
        let end = self.layers.end.min(self.frame.len());
        let packet = self.frame.get(self.layers.l3..end)?;
        match (self.from, source) {
            (IpAddr::V4(from), IpAddr::V4(to)) => self.put_v4(&mut reply, packet, from, to)?,
            (IpAddr::V6(from), IpAddr::V6(to)) => self.put_v6(&mut reply, packet, from, to)?,
            _ => return None,
        }
        Some(reply)
    }

    /// RFC 1122 3.2.2 and RFC 4443 2.4: no message about a message, a later fragment, or a packet to or from
    /// a group.
    fn may_be_answered(&self, source: IpAddr, destination: IpAddr) -> bool {
        let first = self.frame.get(self.layers.l4).copied();
        let is_single = !source.is_multicast() && !source.is_unspecified() && !destination.is_multicast();
        is_single
            && self.layers.fragment != Fragment::Later
            && !inband_wire::icmp::may_be_error(self.layers.protocol, first)
    }

    fn put_v4(&self, reply: &mut Vec<u8>, packet: &[u8], from: Ipv4Addr, to: Ipv4Addr) -> Option<()> {
        let (kind, code, word) = match self.message {
            Message::TimeExceeded => (11, 0, 0),
            Message::NoRoute => (3, 0, 0),
            Message::HostUnreachable => (3, 1, 0),
            Message::TooBig(mtu) => (3, 4, u32::from(mtu)),
            Message::Prohibited => (3, 13, 0),
        };
        let quoted = packet.get(..MAX_V4_QUOTE).unwrap_or(packet);
        let length = u16::try_from(20 + 8 + quoted.len()).ok()?;
        let [high, low] = length.to_be_bytes();
        let mut ip = [0x45, 0xc0, high, low, 0, 0, 0, 0, 64, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        ip.get_mut(12..16)?.copy_from_slice(&from.octets());
        ip.get_mut(16..20)?.copy_from_slice(&to.octets());
        let checksum = Sum::of(&ip).checksum();
        ip.get_mut(10..12)?.copy_from_slice(&checksum.to_be_bytes());
        reply.extend_from_slice(&ip);
        put_icmp(reply, (kind, code, word), quoted, Sum::ZERO);
        Some(())
    }

    fn put_v6(&self, reply: &mut Vec<u8>, packet: &[u8], from: Ipv6Addr, to: Ipv6Addr) -> Option<()> {
        let (kind, code, word) = match self.message {
            Message::NoRoute => (1, 0, 0),
            Message::Prohibited => (1, 1, 0),
            Message::HostUnreachable => (1, 3, 0),
            Message::TooBig(mtu) => (2, 0, u32::from(mtu)),
            Message::TimeExceeded => (3, 0, 0),
        };
        let quoted = packet.get(..MAX_V6_QUOTE).unwrap_or(packet);
        let length = u16::try_from(8 + quoted.len()).ok()?;
        let [high, low] = length.to_be_bytes();
        reply.extend_from_slice(&[0x60, 0, 0, 0, high, low, 58, 64]);
        let addresses = [from.octets(), to.octets()].concat();
        reply.extend_from_slice(&addresses);
        let pseudo = Sum::of(&addresses).plus(Sum::word(length)).plus(Sum::word(58));
        put_icmp(reply, (kind, code, word), quoted, pseudo);
        Some(())
    }
}

fn put_icmp(reply: &mut Vec<u8>, (kind, code, word): (u8, u8, u32), quoted: &[u8], pseudo: Sum) {
    let [a, b, c, d] = word.to_be_bytes();
    let header = |checksum: u16| {
        let [high, low] = checksum.to_be_bytes();
        [kind, code, high, low, a, b, c, d]
    };
    let checksum = pseudo.plus(Sum::of(&header(0))).plus(Sum::of(quoted)).checksum();
    reply.extend_from_slice(&header(checksum));
    reply.extend_from_slice(quoted);
}

/// Takes 1 off the time to live of the packet at `layers`, and corrects the header's checksum.
pub(crate) fn decrement(frame: &mut [u8], layers: &Layers) {
    match layers.ip {
        IpVersion::V6 => {
            if let Some(limit) = frame.get_mut(layers.l3 + 7) {
                *limit = limit.saturating_sub(1);
            }
        }
        IpVersion::V4 => {
            let Some(word) = frame.get_mut(layers.l3 + 8..layers.l3 + 12) else { return };
            let [time, protocol, high, low] = word else { return };
            let before = Sum::word(u16::from_be_bytes([*time, *protocol]));
            *time = time.saturating_sub(1);
            let after = Sum::word(u16::from_be_bytes([*time, *protocol]));
            let checksum = u16::from_be_bytes([*high, *low]);
            [*high, *low] = inband_wire::checksum::corrected(checksum, before, after).to_be_bytes();
        }
    }
}

/// The whole message is limited to 576 bytes, or 1280.
const MAX_V4_QUOTE: usize = 576 - 20 - 8;
const MAX_V6_QUOTE: usize = 1_280 - 40 - 8;
