//! Departure of packets: the node does its INT work, and the device gets them.

use inband_linux::clock;
use inband_node::{DeviceCounters, DeviceMetadata, Passage, Verdict};
use inband_wire::int::{Buffer, Queue};
use inband_wire::{Layers, Link, Strictness};

use super::Switch;
use crate::counts::{Cause, Counts};
use crate::forward::{Message, fragments};
use crate::packet::Packet;

impl Switch {
    /// Lets every port send what is due at `now`.
    pub(super) fn advance_all(&mut self, now: u64) {
        for port in 0..self.ports.len() {
            self.advance(port, now);
        }
    }

    /// Lets a port send what is due at `now`.
    pub(super) fn advance(&mut self, port: usize, now: u64) {
        for _ in 0..MAX_DEPARTURES {
            let Some(egress) = self.ports.get_mut(port) else { return };
            if egress.is_blocked {
                return;
            }
            let Some((queue, packet)) = egress.pop(now) else { return };
            self.depart(port, queue, packet);
        }
    }

    fn depart(&mut self, port: usize, queue: u8, mut packet: Packet) {
        let left_at = clock::realtime();
        if packet.ingress.is_some() {
            let passage = self.passage(port, queue, &packet, left_at);
            let verdict = self.telemetry.handle(&mut packet, &passage);
            self.drain_outputs(left_at);
            if verdict != Verdict::Forward {
                return self.pool.give_back(packet);
            }
            if self.ports.get(port).is_some_and(|egress| egress.is_edge && packet.len() > egress.mtu)
                && let Ok(Some(layers)) = Layers::parse(Link::Ethernet, packet.bytes(), Strictness::Truncated)
                && self.ports.get(port).is_some_and(|egress| layers.ip_length() > egress.mtu)
            {
                return self.too_long_at_edge(packet, layers, (port, queue), left_at);
            }
        }
        if let Some(egress) = self.ports.get_mut(port) {
            egress.depart(packet, left_at);
        }
    }

    /// Handles a packet longer than the MTU of the edge, even without INT.
    fn too_long_at_edge(&mut self, mut packet: Packet, layers: Layers, to: (usize, u8), now: u64) {
        let Some(egress) = self.ports.get_mut(to.0) else { return };
        let mtu = egress.mtu;
        if packet.came_with.is_some()
            && let Some(parts) = fragments(packet.bytes(), &layers, mtu)
        {
            for part in parts {
                let came_at = packet.came_at;
                egress.depart(Packet { came_at, ..self.pool.packet(&[&part]) }, now);
            }
            return self.pool.give_back(packet);
        }
        // The message to the sender goes back along the packet's path.
        if let Some(addresses) = packet.came_with
            && let Some(place) = packet.bytes_mut().first_chunk_mut::<12>()
        {
            *place = addresses;
            let message = Message::TooBig(u16::try_from(mtu).unwrap_or(u16::MAX));
            self.answer(&packet, Some(layers), Some(message));
        }
        self.drop(packet, Some(layers), Some(to), Cause::TooBig);
    }

    fn passage(&self, port: usize, queue: u8, packet: &Packet, left_at: u64) -> Passage {
        let id = |port: usize| self.ports.get(port).map_or(0, |port| port.id);
        let latency = u32::try_from(left_at.saturating_sub(packet.came_at)).unwrap_or(u32::MAX - 1);
        let metadata = DeviceMetadata {
            ingress_timestamp: Some(packet.came_at),
            egress_timestamp: Some(left_at),
            hop_latency: Some(latency),
            queue: Some(Queue { id: queue, occupancy: packet.queue_bytes }),
            buffer: Some(Buffer { id: 0, occupancy: packet.buffer_bytes }),
            egress_utilization: self.ports.get(port).and_then(|port| port.utilization(left_at)),
            counters: self.counters(packet.ingress, Some(port)),
        };
        Passage { ingress: packet.ingress.map_or(0, id), egress: id(port), metadata }
    }

    /// The counters for a packet between these ports; `None`: the node does not use them.
    pub(super) fn counters(&self, ingress: Option<usize>, egress: Option<usize>) -> Option<DeviceCounters> {
        let counts =
            |port: Option<usize>| port.and_then(|port| self.ports.get(port)).map(|port| &port.counts);
        self.telemetry.reads_counters().then(|| DeviceCounters {
            state_version: Some(self.routing.version()),
            ingress: counts(ingress).map(Counts::ingress).unwrap_or_default(),
            egress: counts(egress).map(Counts::egress).unwrap_or_default(),
        })
    }

    /// Sends the node's output.
    pub(super) fn drain_outputs(&mut self, now: u64) {
        while let Some(own) = self.telemetry.poll_packet(now) {
            if let Some(port) = self.ports.iter().position(|port| port.id == own.egress) {
                self.send_own(port, &own.bytes, now);
            }
        }
    }
}

/// Maximum packets of one port before other ports get their turn.
const MAX_DEPARTURES: usize = 64;
