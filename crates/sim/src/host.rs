//! Hosts: addressing of sent frames and checks of received ones.

use std::net::Ipv4Addr;

use inband_wire::checksum::Sum;
use inband_wire::error::Header;
use inband_wire::layers::Transport;
use inband_wire::tcp::TcpHeader;
use inband_wire::verify::l4_checksum;
use inband_wire::view::view;
use inband_wire::{ChecksumState, FiveTuple, Layers, Link, Strictness, udp};

use crate::egress_port::EgressPort;
use crate::frame::{Envelope, IP_CHECKSUM_OFFSET, L3, L4, TTL_OFFSET};
use crate::ledger::Mismatch;
use crate::packet::Packet;

#[cfg(test)]
mod tests;

/// A host with one interface, attached to a leaf.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) address: Ipv4Addr,
    pub(crate) mac: [u8; 6],
    /// MAC address of the leaf, its only router.
    pub(crate) router_mac: [u8; 6],
    pub(crate) port: EgressPort,
    pub(crate) next_identification: u16,
}

/// The headers and payload of a frame that arrived intact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) flow: FiveTuple,
    /// The TCP header; `None` for UDP.
    pub(crate) tcp: Option<TcpHeader>,
    /// Payload after the TCP or UDP header.
    pub(crate) payload_bytes: usize,
}

impl Host {
    /// The envelope of its next packet; `ports` are source and destination port.
    pub(crate) fn envelope(&mut self, destination: Ipv4Addr, ports: (u16, u16), dscp: u8) -> Envelope {
        let identification = self.next_identification;
        self.next_identification = identification.wrapping_add(1);
        Envelope {
            source_mac: self.mac,
            destination_mac: self.router_mac,
            source: self.address,
            destination,
            source_port: ports.0,
            destination_port: ports.1,
            dscp,
            identification,
        }
    }

    /// Compares what arrived with what was sent, byte for byte and by full recomputation of the checksums.
    pub(crate) fn receive(&self, packet: &Packet) -> Result<Received, Mismatch> {
        let (frame, sent) = (packet.frame(), packet.sent());
        if frame.len() != sent.len() || frame.len() < L4 {
            return Err(Mismatch::Content);
        }
        if frame[..6] != self.mac || frame[L4 - 4..L4] != self.address.octets() {
            return Err(Mismatch::Address);
        }
        if usize::from(frame[L3 + TTL_OFFSET]) + packet.path.len() != usize::from(sent[L3 + TTL_OFFSET]) {
            return Err(Mismatch::TimeToLive);
        }
        if Sum::of(&frame[L3..L4]).fold() != u16::MAX {
            return Err(Mismatch::HeaderChecksum);
        }
        // Routers change both MAC addresses, the time to live and the header checksum.
        let same = |from: usize, to: usize| frame[from..to] == sent[from..to];
        let protocol = L3 + TTL_OFFSET + 1;
        let checksum = L3 + IP_CHECKSUM_OFFSET;
        if !(same(12, L3 + TTL_OFFSET) && same(protocol, checksum) && same(checksum + 2, frame.len())) {
            return Err(Mismatch::Content);
        }
        read(frame)
    }
}

fn read(frame: &[u8]) -> Result<Received, Mismatch> {
    let layers = Layers::parse(Link::Ethernet, frame, Strictness::Whole);
    let Ok(Some(layers)) = layers else { return Err(Mismatch::Content) };
    if l4_checksum(frame, &layers) != ChecksumState::Ok {
        return Err(Mismatch::Checksum);
    }
    let (tcp, header_bytes) = match layers.transport {
        Transport::Tcp { header_length } => {
            let header: &TcpHeader = view(frame, layers.l4, Header::Tcp).map_err(|_| Mismatch::Content)?;
            (Some(*header), header_length)
        }
        Transport::Udp => (None, udp::HEADER_BYTES),
        Transport::Other => return Err(Mismatch::Content),
    };
    let payload_bytes = layers.end - layers.l4 - header_bytes;
    Ok(Received { flow: layers.five_tuple(frame), tcp, payload_bytes })
}
