//! Raw sockets that send probes and receive the ICMP messages that quote them.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use anyhow::{Context, Error};
use inband_model::Flow;
use inband_node::config::EncapsulationConfig;
use inband_wire::int::CodePoints;
use inband_wire::layers::IpVersion;
use inband_wire::{Layers, Link, Strictness, dissect};
use socket2::{Domain, Protocol, Socket, Type};

use super::cause::Cause;
use super::probe::Prober;
use super::quote::{Carried, Quote};
use super::stack;

/// Raw sockets of one family.
pub(super) struct Raw {
    sender: Socket,
    /// A raw ICMP socket; `UdpSocket` only provides the calls.
    receiver: UdpSocket,
    is_ipv4: bool,
    number: u16,
    /// How INT is marked in quoted probes; `None`: by the default code points.
    encapsulation: Option<EncapsulationConfig>,
}

impl Raw {
    /// Opens the sockets for probes to `destination` with this encapsulation.
    pub(super) fn open(destination: IpAddr, encapsulation: Option<EncapsulationConfig>) -> io::Result<Self> {
        let is_ipv4 = destination.is_ipv4();
        let (domain, icmp) =
            if is_ipv4 { (Domain::IPV4, Protocol::ICMPV4) } else { (Domain::IPV6, Protocol::ICMPV6) };
        // With this protocol the sender provides the IP header.
        let sender = Socket::new(domain, Type::RAW, Some(Protocol::from(IPPROTO_RAW)))?;
        let receiver = Socket::new(domain, Type::RAW, Some(icmp))?;
        receiver.set_nonblocking(true)?;
        receiver.set_recv_buffer_size(1 << 20)?;
        Ok(Self { sender, receiver: receiver.into(), is_ipv4, number: 0, encapsulation })
    }

    /// Sends a probe; returns its number.
    pub(super) fn send(&mut self, prober: &Prober, flow: Flow, ttl: u8) -> Result<u16, Error> {
        self.number = self.number.wrapping_add(1).max(1);
        let packet = prober.packet(flow, ttl, self.number)?;
        let to = SocketAddr::new(flow.destination, 0);
        self.sender
            .send_to(&packet, &to.into())
            .with_context(|| format!("cannot send a probe to {}", flow.destination))?;
        Ok(self.number)
    }

    /// Discards what has arrived so far.
    pub(super) fn drain(&self) {
        while self.receive().is_some() {}
    }

    /// The quotes of a flow's probes that have arrived.
    pub(super) fn quotes(&self, flow: Flow) -> Vec<Quote> {
        let mut quotes = Vec::new();
        while let Some((from, message)) = self.receive() {
            quotes.extend(self.read(from, &message, flow));
        }
        quotes
    }

    fn receive(&self) -> Option<(IpAddr, Vec<u8>)> {
        let mut buffer = [0; 2048];
        let (length, from) = self.receiver.recv_from(&mut buffer).ok()?;
        Some((from.ip(), buffer.get(..length)?.to_vec()))
    }

    fn read(&self, from: IpAddr, message: &[u8], flow: Flow) -> Option<Quote> {
        // A raw IPv4 socket also returns the IP header.
        let start = if self.is_ipv4 { usize::from(message.first()? & 0x0f) * 4 } else { 0 };
        let icmp = message.get(start..)?;
        let cause = Cause::of(self.is_ipv4, *icmp.first()?, *icmp.get(1)?)?;
        let packet = icmp.get(8..)?;
        let read = stack::read(Link::Ip, packet, self.encapsulation.as_ref());
        let quoted = match &read {
            Some(read) => read.flow,
            None => plain_flow(packet)?,
        };
        if (quoted.source, quoted.destination, quoted.protocol)
            != (flow.source, flow.destination, flow.protocol)
            || (quoted.source_port, quoted.destination_port) != (flow.source_port, flow.destination_port)
        {
            return None;
        }
        let number = number(packet, self.is_ipv4)?;
        let ttl = *packet.get(if self.is_ipv4 { 8 } else { 7 })?;
        Some(Quote { from, number, cause, ttl, int: read.map(Carried::of) })
    }
}

/// The number of a probe: the last two bytes of its payload, or the IPv4 identification if the quote is
/// shorter.
fn number(packet: &[u8], is_ipv4: bool) -> Option<u16> {
    let length = |at: usize| Some(usize::from(u16::from_be_bytes(*packet.get(at..)?.first_chunk()?)));
    let end = if is_ipv4 { length(2)? } else { 40 + length(4)? };
    let last = packet.get(end.checked_sub(2)?..end).and_then(|bytes| bytes.first_chunk());
    let id = || packet.get(4..)?.first_chunk().filter(|_| is_ipv4);
    last.or_else(id).map(|bytes| u16::from_be_bytes(*bytes))
}

/// The number of the probe in a reported packet; `None`: it is truncated.
pub(super) fn number_behind(link: Link, packet: &[u8]) -> Option<u16> {
    let layers = Layers::parse(link, packet, Strictness::Truncated).ok()??;
    number(packet.get(layers.l3..)?, layers.ip == IpVersion::V4)
}

/// The flow of a packet that is not marked as INT.
fn plain_flow(packet: &[u8]) -> Option<Flow> {
    let tuple = dissect(Link::Ip, packet, &CodePoints::default(), Strictness::Truncated).flow?;
    Some(Flow {
        source: tuple.source,
        destination: tuple.destination,
        protocol: tuple.protocol,
        source_port: tuple.source_port,
        destination_port: tuple.destination_port,
    })
}

const IPPROTO_RAW: i32 = 255;
