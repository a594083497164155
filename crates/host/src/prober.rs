//! Probes: packets with INT on a flow's addresses, which only an agent accepts.

use std::collections::HashMap;
use std::io;

use inband_linux::packet::PacketSocket;
use inband_node::config::{
    EncapsulationKind, IntVersion, InterfaceConfig, ReportFilter, TcpOptionsConfig, WatchEntry,
};
use inband_node::frame::{Frame, MAX_GROWTH};
use inband_node::{DeviceMetadata, Node, NodeConfig, Passage};
use inband_wire::layers::Link;

use crate::headers::{Headers, L3, TCP, TCP_BYTES, UDP, UDP_BYTES};
use crate::lease::{Body, Keys, MAX_LENGTH, Message, Probe};

/// The sender of probes.
#[derive(Debug)]
pub(crate) struct Prober {
    /// The domain's settings.
    node: NodeConfig,
    /// Interface identifier of the host itself.
    host: u16,
    /// An engine for each egress interface, which starts INT in every packet.
    engines: HashMap<u16, Node>,
    /// Opened with the first probe.
    socket: Option<PacketSocket>,
    pub(crate) sent: u64,
    /// Probes that were not sent, or not made, such as for packets that cannot carry INT.
    pub(crate) failed: u64,
}

/// D of INT 2.1; C of the versions before, whose sinks also end a copy.
const DISCARD: u8 = 0x08;
const COPY: u8 = 0x02;

impl Prober {
    pub(crate) fn new(node: &NodeConfig, host: u16) -> Self {
        Self { node: node.clone(), host, engines: HashMap::new(), socket: None, sent: 0, failed: 0 }
    }

    /// Sends `probe` with the headers of `packet`, of its flow, by the device with this interface index and
    /// identifier.
    pub(crate) fn send(&mut self, packet: &[u8], probe: &Probe, keys: &Keys, (device, id): (u32, u16)) {
        let frame = self.frame(packet, probe, keys, id);
        let sent =
            frame.is_some_and(|frame| self.socket().and_then(|socket| socket.send(&frame, device)).is_ok());
        if sent {
            self.sent += 1;
        } else {
            self.failed += 1;
        }
    }

    fn socket(&mut self) -> io::Result<&PacketSocket> {
        let socket = match self.socket.take() {
            Some(socket) => socket,
            None => PacketSocket::open()?,
        };
        Ok(self.socket.insert(socket))
    }

    /// The probe on the wire: of the requested length, marked to be discarded, with a checksum that every
    /// host rejects.
    pub(crate) fn frame(&mut self, packet: &[u8], probe: &Probe, keys: &Keys, id: u16) -> Option<Vec<u8>> {
        let headers = Headers::read(packet)?;
        // INT's size is known only after it was added.
        let shortest = headers.frame_with(packet, &signed(probe.message, MAX_LENGTH, keys))?;
        let growth =
            self.start_int(&shortest, id)?.len().checked_sub(shortest.len()).filter(|grown| *grown > 0)?;
        let without_int = usize::try_from(probe.length).ok()?.checked_sub(growth)?;
        let padding = (without_int + L3).checked_sub(shortest.len())?;
        let mut payload = signed(probe.message, u32::try_from(without_int).ok()?, keys).to_vec();
        payload.resize(payload.len() + padding, 0);
        let mut frame = self.start_int(&headers.frame_with(packet, &payload)?, id)?;
        let is_new_udp = self.node.encapsulation.kind() == EncapsulationKind::Udp;
        let int = match () {
            () if is_new_udp => headers.l4 + UDP_BYTES,
            () if headers.flow.protocol == TCP && self.is_before_options() => headers.l4 + TCP_BYTES,
            () => headers.payload,
        };
        let is_host_int = self.node.int_version() == IntVersion::Host0_5;
        *frame.get_mut(int + SHIM_BYTES)? |= if is_host_int { COPY } else { DISCARD };
        headers.spoil_checksum(&mut frame, if is_new_udp { UDP } else { headers.flow.protocol })?;
        Some(frame)
    }

    fn is_before_options(&self) -> bool {
        self.node.int_version() == IntVersion::Host0_5
            || self.node.encapsulation.tcp_options == TcpOptionsConfig::Before
    }

    /// The frame as the domain's sources would send it.
    fn start_int(&mut self, frame: &[u8], id: u16) -> Option<Vec<u8>> {
        let (node, host) = (&self.node, self.host);
        let engine = match self.engines.entry(id) {
            std::collections::hash_map::Entry::Occupied(engine) => engine.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => place.insert(engine(node, host, id)?),
        };
        let mut buffer = vec![0; MAX_GROWTH];
        buffer.extend_from_slice(frame);
        let mut frame = Frame::behind_headroom(&mut buffer)?;
        let passage = Passage { ingress: host, egress: id, metadata: DeviceMetadata::default() };
        let _ = engine.handle_frame(Link::Ethernet, &mut frame, &passage);
        // A source of MX reports what it starts; a probe is not reported.
        while engine.poll_output().is_some() {}
        Some(frame.bytes().to_vec())
    }
}

/// Bytes in front of the byte with version and flags.
const SHIM_BYTES: usize = 4;

fn engine(node: &NodeConfig, host: u16, id: u16) -> Option<Node> {
    let mut node = node.clone();
    let inside = InterfaceConfig { mtu: u32::MAX, ..InterfaceConfig::new(id) };
    let edge = InterfaceConfig { edge: true, mtu: u32::MAX, ..InterfaceConfig::new(host) };
    node.interfaces = vec![edge, inside];
    node.watchlist = vec![WatchEntry::default()];
    (node.source.discard, node.report.filter) = (false, ReportFilter::None);
    Node::new(&node).ok()
}

fn signed(message: Message, without_int: u32, keys: &Keys) -> [u8; crate::lease::MESSAGE_BYTES] {
    let body = match message.body {
        Body::Probe { lease_ms, dialect, ports, protocol, reply_port, .. } => {
            Body::Probe { lease_ms, dialect, ports, protocol, reply_port, length: without_int }
        }
        body => body,
    };
    Message { body, ..message }.to_bytes(keys)
}
