//! The UDP datagram in a captured packet.

use std::net::SocketAddr;

use inband_model::api::DecodeStart;
use inband_wire::Layers;
use inband_wire::layers::{Fragment, Link, Strictness};
use inband_wire::udp::HEADER_BYTES;

/// A complete UDP datagram of a captured packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The sender.
    pub from: SocketAddr,
    /// The recipient.
    pub to: SocketAddr,
    /// The payload, as much as was captured.
    pub payload: &'a [u8],
}

/// Finds the UDP datagram in a packet; `None` when there is none, or only a fragment of one.
#[must_use]
pub fn datagram(packet: &[u8], start: DecodeStart) -> Option<Datagram<'_>> {
    let link = match start {
        DecodeStart::Report => return None,
        DecodeStart::Ethernet => Link::Ethernet,
        DecodeStart::Ip => Link::Ip,
    };
    let layers = Layers::parse(link, packet, Strictness::Truncated).ok()??;
    let udp = layers.udp(packet).filter(|_| layers.fragment == Fragment::Whole)?;
    let flow = layers.five_tuple(packet);
    let from = SocketAddr::new(flow.source.to_canonical(), udp.source_port.get());
    let to = SocketAddr::new(flow.destination.to_canonical(), udp.destination_port.get());
    let end = layers.l4 + usize::from(udp.length.get());
    let payload = packet.get(layers.l4 + HEADER_BYTES..end.min(layers.end).min(packet.len()))?;
    Some(Datagram { from, to, payload })
}
