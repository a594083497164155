//! Arrival of frames: they are finished, forwarded to a port or the host, and queued.

use inband_linux::clock;
use inband_linux::frames::Received;
use inband_node::{DeviceMetadata, Passage};
use inband_wire::layers::IpVersion;
use inband_wire::{Layers, Link, ParseError, Strictness};
use rustix::io::Errno;

use super::Switch;
use crate::counts::Cause;
use crate::finish::{complete_left, finish};
use crate::forward::{Arrival, Decision, Message, Reply, Rewrite, decrement, fragments};
use crate::packet::Packet;

impl Switch {
    /// Receives pending frames; returns their number.
    pub(super) fn receive(&mut self) -> usize {
        let mut count = 0;
        let turn = self.intake.turn;
        self.intake.turn = turn.wrapping_add(1);
        for ingress in 0..self.ports.len() {
            let by_rings = self.receive_by_rings(ingress);
            count += by_rings;
            // Where packets bypass the kernel's stack, few come by its sockets.
            if by_rings == 0 || turn.is_multiple_of(SOCKET_TURNS) {
                count += self.receive_from(ingress);
            }
        }
        count
    }

    fn receive_by_rings(&mut self, ingress: usize) -> usize {
        let mut arrived = std::mem::take(&mut self.intake.arrived);
        let clock = self.intake.clock;
        let mut is_virtual = false;
        if let Some(Ok(rings)) = self.ports.get_mut(ingress).map(|port| &mut port.rings) {
            is_virtual = rings.is_virtual();
            rings.receive(&mut self.pool, &mut arrived);
        }
        read_first(&arrived);
        let count = arrived.len();
        for mut packet in arrived.drain(..) {
            packet.ingress = Some(ingress);
            packet.came_at = match clock.take_time(&mut packet) {
                0 => clock::realtime(),
                time => time,
            };
            self.arrive(packet, is_virtual);
        }
        self.intake.arrived = arrived;
        count
    }

    fn receive_from(&mut self, ingress: usize) -> usize {
        let Some(port) = self.ports.get(ingress).filter(|port| port.absence.is_none()) else { return 0 };
        let Some(mut batch) = self.intake.batch.take() else { return 0 };
        let mut count = 0;
        let received = port.socket.receive(&mut batch).map(|frames| {
            for received in frames {
                count += 1;
                self.take_in(&received, ingress);
            }
        });
        self.intake.batch = Some(batch);
        // Of a device that is down, frames stay in the socket. The socket of one that was removed is of no use,
        // even if the device is back.
        let is_gone = received.is_err_and(|error| error.raw_os_error() == Some(Errno::NODEV.raw_os_error()));
        if let (true, Some(port)) = (is_gone, self.ports.get_mut(ingress)) {
            port.leave(&mut self.pool);
        }
        count
    }

    fn take_in(&mut self, received: &Received<'_>, ingress: usize) {
        let came_at = if received.came_at == 0 { clock::realtime() } else { received.came_at };
        let mut whole = std::mem::take(&mut self.intake.whole);
        let finished = finish(received, &mut self.pool, |packet, _| whole.push(packet));
        for packet in whole.drain(..) {
            self.arrive(Packet { ingress: Some(ingress), came_at, ..packet }, false);
        }
        self.intake.whole = whole;
        if let Err(cause) = finished
            && let Some(port) = self.ports.get_mut(ingress)
        {
            port.counts.received_packets += 1;
            port.counts.drop_received(cause);
        }
    }

    /// Counts an incoming packet and dispatches it. `may_leave`: its checksum may be left to a device.
    fn arrive(&mut self, mut packet: Packet, may_leave: bool) {
        if let Some(port) = packet.ingress.and_then(|ingress| self.ports.get_mut(ingress)) {
            port.counts.received_packets += 1;
            port.counts.received_bytes += packet.len() as u64;
        }
        let layers = Layers::parse(Link::Ethernet, packet.bytes(), Strictness::Truncated);
        if let (true, Ok(Some(layers))) = (may_leave, &layers) {
            complete_left(packet.bytes_mut(), layers);
        }
        self.dispatch_parsed(packet, layers);
    }

    /// Decides where a packet goes, and sends it there.
    pub(super) fn dispatch(&mut self, packet: Packet) {
        let layers = Layers::parse(Link::Ethernet, packet.bytes(), Strictness::Truncated);
        self.dispatch_parsed(packet, layers);
    }

    fn dispatch_parsed(&mut self, packet: Packet, layers: Result<Option<Layers>, ParseError>) {
        let Some(ingress) = packet.ingress else { return self.pool.give_back(packet) };
        let layers = match layers {
            Ok(layers) => layers,
            Err(_) if self.routing.is_router() => return self.drop(packet, None, None, Cause::Malformed),
            Err(_) => None,
        };
        let arrival =
            Arrival { frame: packet.bytes(), layers: layers.as_ref(), ingress, now: packet.came_at };
        match self.routing.decide(&arrival) {
            Decision::Port { port, rewrite } => self.forward(packet, layers, port, rewrite),
            Decision::Flood => self.flood(packet, layers, ingress),
            Decision::Host => {
                if let Some(port) = self.ports.get_mut(ingress) {
                    port.counts.to_host += 1;
                }
                self.pool.give_back(packet);
            }
            Decision::Drop(cause, message) => {
                self.answer(&packet, layers, message);
                self.drop(packet, layers, None, cause);
            }
            Decision::Wait(neighbour) => {
                let packet = self.pool.move_out(packet);
                if let Some(packet) = self.routing.wait_for(neighbour, packet, clock::realtime()) {
                    let layers = layers_of(&packet);
                    self.drop(packet, layers, None, Cause::NeighbourUnresolved);
                }
            }
        }
    }

    /// Drops a packet that has waited too long for its neighbour, and notifies its sender.
    pub(super) fn give_up(&mut self, packet: Packet) {
        let layers = layers_of(&packet);
        self.answer(&packet, layers, Some(Message::HostUnreachable));
        self.drop(packet, layers, None, Cause::NeighbourUnresolved);
    }

    /// Puts a copy of the packet into a queue of every port but its ingress.
    fn flood(&mut self, packet: Packet, layers: Option<Layers>, ingress: usize) {
        for port in (0..self.ports.len()).filter(|port| *port != ingress) {
            let copy = self.pool.packet(&[packet.bytes()]);
            let (ingress, came_at) = (packet.ingress, packet.came_at);
            self.forward(Packet { ingress, came_at, ..copy }, layers, port, None);
        }
        self.pool.give_back(packet);
    }

    fn forward(&mut self, mut packet: Packet, layers: Option<Layers>, port: usize, rewrite: Option<Rewrite>) {
        let Some(egress) = self.ports.get(port) else { return self.pool.give_back(packet) };
        // At an edge, INT is removed first.
        if let Some(layers) = layers
            && !egress.is_edge
            && layers.ip_length() > egress.mtu
        {
            return self.too_long(packet, layers, port, rewrite);
        }
        let queue = egress.queue_of(layers.map_or(0, |layers| layers.dscp(packet.bytes())));
        // Packets that left before it came do not wait before it.
        self.advance(port, packet.came_at);
        let Some(egress) = self.ports.get(port) else { return };
        if !egress.has_room(queue, packet.len()) {
            return self.drop(packet, layers, Some((port, queue)), Cause::QueueFull);
        }
        if let (Some(rewrite), Some(layers)) = (rewrite, layers) {
            let frame = packet.bytes_mut();
            let came_with = frame.first_chunk::<12>().copied();
            if let Some(addresses) = frame.first_chunk_mut::<12>() {
                *addresses = addresses_of(rewrite);
            }
            decrement(frame, &layers);
            packet.came_with = came_with;
        }
        let bytes = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).min(MAX_OCCUPANCY);
        packet.queue_bytes = bytes(egress.waiting_bytes(queue));
        packet.buffer_bytes = bytes(egress.all_waiting_bytes());
        if let Some(egress) = self.ports.get_mut(port) {
            egress.push(queue, packet);
        }
    }

    /// Handles a packet longer than the MTU of its egress: a router fragments it if allowed.
    fn too_long(&mut self, packet: Packet, layers: Layers, port: usize, rewrite: Option<Rewrite>) {
        let Some(egress) = self.ports.get(port) else { return };
        let mtu = egress.mtu;
        if rewrite.is_some()
            && let Some(parts) = fragments(packet.bytes(), &layers, mtu)
        {
            for part in parts {
                let fragment = self.pool.packet(&[&part]);
                let (ingress, came_at) = (packet.ingress, packet.came_at);
                let layers = layers_of(&fragment);
                self.forward(Packet { ingress, came_at, ..fragment }, layers, port, rewrite);
            }
            return self.pool.give_back(packet);
        }
        if rewrite.is_some() {
            let message = Message::TooBig(u16::try_from(mtu).unwrap_or(u16::MAX));
            self.answer(&packet, Some(layers), Some(message));
        }
        self.drop(packet, Some(layers), Some((port, 0)), Cause::TooBig);
    }

    /// Counts a dropped packet, and lets the node report it.
    pub(super) fn drop(
        &mut self,
        packet: Packet,
        layers: Option<Layers>,
        to: Option<(usize, u8)>,
        cause: Cause,
    ) {
        if let Some((egress, _)) = to {
            if let Some(port) = self.ports.get_mut(egress) {
                port.counts.drop(cause);
            }
        } else if let Some(port) = packet.ingress.and_then(|ingress| self.ports.get_mut(ingress)) {
            port.counts.drop_received(cause);
        }
        // Without IP there is no flow to report.
        let code = |layers: Layers| self.telemetry.code_of(cause, layers.ip == IpVersion::V6);
        if let Some(code) = layers.and_then(code) {
            let passage = self.passage_of_drop(&packet, to);
            self.telemetry.handle_drop(&packet, &passage, code);
            self.drain_outputs(packet.came_at);
        }
        self.pool.give_back(packet);
    }

    fn passage_of_drop(&self, packet: &Packet, to: Option<(usize, u8)>) -> Passage {
        let id = |port: usize| self.ports.get(port).map_or(0, |port| port.id);
        let queue = to.and_then(|(port, queue)| {
            let waiting = u32::try_from(self.ports.get(port)?.waiting_bytes(queue)).unwrap_or(u32::MAX);
            Some(inband_wire::int::Queue { id: queue, occupancy: waiting.min(MAX_OCCUPANCY) })
        });
        let metadata = DeviceMetadata {
            ingress_timestamp: Some(packet.came_at),
            queue,
            counters: self.counters(packet.ingress, to.map(|(port, _)| port)),
            ..DeviceMetadata::default()
        };
        let egress = to.map_or(0, |(port, _)| id(port));
        Passage { ingress: packet.ingress.map_or(0, id), egress, metadata }
    }

    /// Sends an ICMP message about a packet to its sender.
    pub(super) fn answer(&mut self, packet: &Packet, layers: Option<Layers>, message: Option<Message>) {
        let (Some(layers), Some(message), Some(ingress)) = (layers, message, packet.ingress) else { return };
        if !self.timers.may_send_message() {
            return;
        }
        let Some(port) = self.ports.get(ingress) else { return };
        let Some(from) = self.routing.source(port, layers.ip == IpVersion::V4) else { return };
        let reply = Reply { message, frame: packet.bytes(), layers: &layers, from };
        if let Some(frame) = reply.frame() {
            self.timers.count_message();
            self.send_own(ingress, &frame, packet.came_at);
        }
    }

    /// Queues a packet made by the switch itself.
    pub(super) fn send_own(&mut self, port: usize, frame: &[u8], now: u64) {
        let packet = Packet { came_at: now, ..self.pool.packet(&[frame]) };
        let Some(egress) = self.ports.get_mut(port) else { return };
        let queue = egress.queue_of(u8::MAX >> 2);
        if egress.has_room(queue, packet.len()) {
            egress.push(queue, packet);
        } else {
            egress.counts.drop(Cause::QueueFull);
            self.pool.give_back(packet);
        }
    }
}

fn layers_of(packet: &Packet) -> Option<Layers> {
    Layers::parse(Link::Ethernet, packet.bytes(), Strictness::Truncated).ok().flatten()
}

fn addresses_of(rewrite: Rewrite) -> [u8; 12] {
    let mut addresses = [0; 12];
    let (destination, source) = addresses.split_at_mut(6);
    destination.copy_from_slice(&rewrite.destination);
    source.copy_from_slice(&rewrite.source);
    addresses
}

/// Reads a byte of each cache line of the packets' headers. Another processor has written them, and
/// independent reads wait together.
fn read_first(packets: &[Packet]) {
    let lines = packets.iter().flat_map(|packet| HEADER_LINES.map(|line| packet.bytes().get(line)));
    std::hint::black_box(lines.flatten().fold(0, |sum, byte| sum ^ byte));
}

/// Packet sockets are read at least once in this many turns.
const SOCKET_TURNS: u32 = 16;
/// The maximum of the 24 bits in the metadata; all ones mean unknown.
const MAX_OCCUPANCY: u32 = 0xff_fffe;
/// Where the cache lines of the headers are from the start of a frame, bytes.
const HEADER_LINES: [usize; 2] = [0, 64];
