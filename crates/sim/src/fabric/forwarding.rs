//! Forwarding of packets from one device to the next.

use inband_node::{Output, OwnPacket, Verdict};
use inband_wire::{Layers, Link, Strictness};

use crate::fabric::{Event, Fabric, MAX_REPORTS, Report};
use crate::frame::route;
use crate::ledger::DropReason;
use crate::packet::Packet;
use crate::random::mix;
use crate::topology::{Device, Port, host_mac, switch_mac};

impl Fabric {
    pub(super) fn handle_arrival(&mut self, port: Port, mut packet: Box<Packet>) {
        let peer = match port.device {
            Device::Switch(switch) => self.switches[switch].ports[port.number].peer,
            Device::Host(host) => self.hosts[host].port.peer,
        };
        if !self.egress_port(peer).up {
            return self.drop_packet(packet, DropReason::LinkDown);
        }
        match port.device {
            Device::Host(host) => self.deliver(host, packet),
            Device::Switch(switch) => {
                packet.ingress_port = port.number;
                self.forward(switch, packet);
            }
        }
    }

    /// Enqueues a packet at the egress port of its route.
    fn forward(&mut self, switch: usize, mut packet: Box<Packet>) {
        let frame = packet.frame();
        let Ok(Some(layers)) = Layers::parse(Link::Ethernet, frame, Strictness::Whole) else {
            return self.drop_packet(packet, DropReason::NoRoute);
        };
        let Some(egress) = self.routing.egress(switch, &layers.five_tuple(frame)) else {
            return self.drop_packet(packet, DropReason::NoRoute);
        };
        let here = &self.switches[switch];
        let next_mac = match here.ports[egress].peer.device {
            Device::Switch(next) => switch_mac(next),
            Device::Host(host) => host_mac(host),
        };
        if !route(packet.frame_mut(), here.mac, next_mac) {
            return self.drop_packet(packet, DropReason::TtlExpired);
        }
        self.enqueue(Port { device: Device::Switch(switch), number: egress }, packet);
    }

    /// Enqueues a packet at a port, and sends it if the port is idle.
    pub(super) fn enqueue(&mut self, port: Port, packet: Box<Packet>) {
        let egress = self.egress_port(port);
        if !egress.up {
            return self.drop_packet(packet, DropReason::LinkDown);
        }
        let busy = egress.busy;
        match egress.queue.enqueue(packet) {
            Err(packet) => self.drop_packet(packet, DropReason::QueueFull),
            Ok(()) if busy => {}
            Ok(()) => self.send_next(port),
        }
    }

    pub(super) fn handle_sent(&mut self, port: Port) {
        self.egress_port(port).busy = false;
        self.send_next(port);
    }

    /// Sends the oldest packet in the queue of an idle port.
    fn send_next(&mut self, port: Port) {
        while let Some(mut packet) = self.egress_port(port).queue.dequeue() {
            let (verdict, clones) = match port.device {
                Device::Switch(switch) => self.pass(switch, port.number, &mut packet),
                Device::Host(_) => (Verdict::Forward, Vec::new()),
            };
            match verdict {
                Verdict::Forward => {
                    let clones: Vec<_> = clones.iter().map(|clone| self.follow(clone, &packet)).collect();
                    self.transmit(port, packet);
                    return clones.into_iter().for_each(|clone| self.enqueue(port, clone));
                }
                Verdict::Consume | Verdict::Drop => self.drop_packet(packet, DropReason::Node),
            }
        }
    }

    /// Passes a packet that is about to be sent to the INT node of a switch, and collects its reports;
    /// returns the clones it created.
    fn pass(&mut self, switch: usize, egress: usize, packet: &mut Packet) -> (Verdict, Vec<OwnPacket>) {
        if std::mem::take(&mut packet.made_here) {
            return (Verdict::Forward, Vec::new());
        }
        let clock_ns = self.config.clock_of(switch);
        let verdict = self.switches[switch].pass(self.now, clock_ns, egress, packet);
        (verdict, self.collect_outputs(switch, packet))
    }

    /// The fabric's packet for a clone of `original`, which a switch sends after it.
    fn follow(&mut self, clone: &OwnPacket, original: &Packet) -> Box<Packet> {
        let mut packet = self.packets.send(|out| out.extend_from_slice(&clone.bytes));
        packet.path.extend_from_slice(&original.path);
        packet.made_here = true;
        self.ledger.sent += 1;
        packet
    }

    /// Collects a switch's new reports about `packet`, and returns its clones.
    fn collect_outputs(&mut self, switch: usize, packet: &Packet) -> Vec<OwnPacket> {
        let mut clones = Vec::new();
        let here = &mut self.switches[switch];
        let Some(node) = &mut here.node else { return clones };
        while let Some(output) = node.poll_output() {
            let datagram = match output {
                Output::Report(datagram) => datagram,
                Output::Clone(clone) => {
                    clones.push(clone);
                    continue;
                }
                // Switches of the fabric are not configured to replicate, probe or answer.
                Output::Reply(_) | Output::Copy(_) | Output::Probe(_) => continue,
            };
            if self.reports.len() >= MAX_REPORTS {
                self.ledger.reports_discarded += 1;
                continue;
            }
            self.reports.push_back(Report {
                node_id: here.node_id,
                sent_at: self.now,
                payload: datagram.payload.to_vec(),
                true_path: packet.path.clone(),
            });
        }
        clones
    }

    fn transmit(&mut self, port: Port, mut packet: Box<Packet>) {
        let (now, forwarding_ns) = (self.now, self.config.forwarding_ns);
        if self.config.fingerprint {
            self.add_to_fingerprint(port, &packet);
        }
        let egress = self.egress_port(port);
        let sent_at = now + egress.begin(now, &packet);
        packet.arrived_at = sent_at + egress.link.propagation_ns;
        let peer = egress.peer;
        let handled_at = match peer.device {
            Device::Switch(_) => packet.arrived_at + forwarding_ns,
            Device::Host(_) => packet.arrived_at,
        };
        self.events.schedule(sent_at, Event::Sent { port });
        self.events.schedule(handled_at, Event::Arrival { port: peer, packet });
    }

    fn deliver(&mut self, host: usize, packet: Box<Packet>) {
        self.ledger.delivered += 1;
        match self.hosts[host].receive(&packet) {
            Ok(received) => self.handle_received(&received),
            Err(mismatch) => *self.ledger.mismatched.entry(mismatch).or_default() += 1,
        }
        self.packets.put_back(packet);
    }

    pub(super) fn drop_packet(&mut self, packet: Box<Packet>, reason: DropReason) {
        self.ledger.count_drop(reason);
        self.packets.put_back(packet);
    }

    fn add_to_fingerprint(&mut self, port: Port, packet: &Packet) {
        let device = match port.device {
            Device::Switch(switch) => switch as u64,
            Device::Host(host) => 1 << 32 | host as u64,
        };
        let mut hash = mix(self.fingerprint ^ mix(self.now ^ mix(device << 16 | port.number as u64)));
        for chunk in packet.frame().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash = mix(hash ^ u64::from_be_bytes(word)).wrapping_add(chunk.len() as u64);
        }
        self.fingerprint = hash;
    }
}
