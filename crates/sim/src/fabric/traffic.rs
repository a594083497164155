//! The traffic of the fabric's hosts.

use std::net::{IpAddr, Ipv4Addr};

use inband_wire::tcp::TcpHeader;
use inband_wire::{FiveTuple, tcp, udp};

use crate::fabric::flow::{Direction, Ends, Flow, FlowError, MAX_FLOWS, MAX_PAYLOAD_BYTES};
use crate::fabric::{Event, Fabric};
use crate::flow::{FlowConfig, Traffic};
use crate::frame::{ACK, Envelope, FIN, SYN};
use crate::host::Received;
use crate::tcp::receiver::Receiver;
use crate::tcp::sender::Sender;
use crate::tcp::{Segment, from_wire};
use crate::time::Nanos;
use crate::topology::{Device, Port};
use crate::udp::Source;

impl Fabric {
    /// Adds a flow and returns the five-tuple of its packets from source to destination.
    ///
    /// # Errors
    /// `FlowError` gives the reason.
    pub fn add_flow(&mut self, config: FlowConfig) -> Result<FiveTuple, FlowError> {
        let forth = self.five_tuple(&config)?;
        let back = FiveTuple {
            source: forth.destination,
            destination: forth.source,
            source_port: forth.destination_port,
            destination_port: forth.source_port,
            ..forth
        };
        if self.flows.index.contains_key(&forth) || self.flows.index.contains_key(&back) {
            return Err(FlowError::Exists(forth));
        }
        if self.flows.list.len() >= MAX_FLOWS {
            return Err(FlowError::TooMany);
        }
        let start_ns = config.start_ns.max(self.now);
        let ends = match config.traffic {
            Traffic::Tcp(traffic) => Ends::Tcp {
                client: Sender::new(traffic, start_ns),
                client_initial: self.initial_sequence_number(),
                server: Receiver::default(),
                server_initial: self.initial_sequence_number(),
            },
            Traffic::Udp(traffic) => {
                let key = self.random.number();
                Ends::Udp { source: Source::new(traffic, start_ns, key), key }
            }
        };
        let index = self.flows.list.len();
        self.flows.index.insert(forth, (index, Direction::Forth));
        self.flows.index.insert(back, (index, Direction::Back));
        self.flows.list.push(Flow { config, ends, timer_at: None, received_bytes: 0 });
        self.set_timer(index, Some(start_ns));
        Ok(forth)
    }

    /// Bytes of a flow's payload that have reached its destination: of TCP in order, of UDP in any order.
    pub fn received_bytes(&self, flow: &FiveTuple) -> Option<u64> {
        let (index, _) = self.flows.index.get(flow)?;
        let flow = &self.flows.list[*index];
        Some(match &flow.ends {
            Ends::Tcp { server, .. } => server.received_bytes(),
            Ends::Udp { .. } => flow.received_bytes,
        })
    }

    /// Whether a flow is complete: closed and acknowledged, or all datagrams sent.
    pub fn is_done(&self, flow: &FiveTuple) -> Option<bool> {
        let (index, _) = self.flows.index.get(flow)?;
        Some(match &self.flows.list[*index].ends {
            Ends::Tcp { client, .. } => client.is_done(),
            Ends::Udp { source, .. } => source.deadline().is_none(),
        })
    }

    pub(super) fn handle_timer(&mut self, index: usize) {
        let flow = &mut self.flows.list[index];
        if flow.timer_at != Some(self.now) {
            return;
        }
        flow.timer_at = None;
        if let Ends::Tcp { client, .. } = &mut flow.ends {
            client.handle_timeout(self.now);
        }
        self.send_flow(index);
    }

    pub(super) fn handle_received(&mut self, received: &Received) {
        let Some(&(index, direction)) = self.flows.index.get(&received.flow) else { return };
        let flow = &mut self.flows.list[index];
        match (&mut flow.ends, received.tcp) {
            (Ends::Udp { .. }, _) => flow.received_bytes += received.payload_bytes as u64,
            (Ends::Tcp { client, client_initial, server, server_initial }, Some(header)) => {
                let (mine, theirs) = match direction {
                    Direction::Forth => ((*server_initial, 1), (*client_initial, server.next())),
                    Direction::Back => {
                        ((*client_initial, client.unacknowledged()), (*server_initial, client.received()))
                    }
                };
                let Some(segment) = read_segment(&header, received.payload_bytes, mine, theirs) else {
                    return;
                };
                match direction {
                    Direction::Back => {
                        client.handle_segment(self.now, &segment);
                        self.send_flow(index);
                    }
                    Direction::Forth => {
                        let answer = server.handle_segment(&segment);
                        if let Some(answer) = answer {
                            self.send_segment(index, Direction::Back, &answer);
                        }
                    }
                }
            }
            (Ends::Tcp { .. }, None) => {}
        }
    }

    /// Sends a flow's due packets, and schedules its next timer.
    fn send_flow(&mut self, index: usize) {
        let now = self.now;
        loop {
            match &mut self.flows.list[index].ends {
                Ends::Tcp { client, .. } => {
                    let Some(segment) = client.poll_segment(now) else { break };
                    self.send_segment(index, Direction::Forth, &segment);
                }
                Ends::Udp { source, key } => {
                    let Some(number) = source.poll_datagram(now) else { break };
                    let key = key.wrapping_add(number);
                    self.send_datagram(index, key);
                }
            }
        }
        let deadline = match &self.flows.list[index].ends {
            Ends::Tcp { client, .. } => client.deadline(now),
            Ends::Udp { source, .. } => source.deadline(),
        };
        self.set_timer(index, deadline);
    }

    fn send_datagram(&mut self, index: usize, key: u64) {
        let config = self.flows.list[index].config;
        let Traffic::Udp(traffic) = config.traffic else { return };
        let envelope = self.envelope(&config, Direction::Forth);
        self.send_packet(config.source, |out| envelope.write_udp(out, key, traffic.payload_bytes));
    }

    fn send_segment(&mut self, index: usize, direction: Direction, segment: &Segment) {
        let flow = &self.flows.list[index];
        let Ends::Tcp { client_initial, server_initial, .. } = flow.ends else { return };
        let config = flow.config;
        let (source, initial, peer_initial) = match direction {
            Direction::Forth => (config.source, client_initial, server_initial),
            Direction::Back => (config.destination, server_initial, client_initial),
        };
        let envelope = self.envelope(&config, direction);
        self.send_packet(source, |out| envelope.write_tcp(out, initial, peer_initial, segment));
    }

    fn send_packet(&mut self, host: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let packet = self.packets.send(write);
        self.ledger.sent += 1;
        self.enqueue(Port { device: Device::Host(host), number: 0 }, packet);
    }

    fn envelope(&mut self, config: &FlowConfig, direction: Direction) -> Envelope {
        let (source, destination, source_port, destination_port) = match direction {
            Direction::Forth => {
                (config.source, config.destination, config.source_port, config.destination_port)
            }
            Direction::Back => {
                (config.destination, config.source, config.destination_port, config.source_port)
            }
        };
        let destination = self.hosts[destination].address;
        self.hosts[source].envelope(destination, (source_port, destination_port), config.dscp)
    }

    fn set_timer(&mut self, index: usize, deadline: Option<Nanos>) {
        let Some(at) = deadline.map(|at| at.max(self.now)) else { return };
        let flow = &mut self.flows.list[index];
        if flow.timer_at.is_none_or(|scheduled| at < scheduled) {
            flow.timer_at = Some(at);
            self.events.schedule(at, Event::Timer { flow: index });
        }
    }

    fn five_tuple(&self, config: &FlowConfig) -> Result<FiveTuple, FlowError> {
        let address = |host: usize| -> Result<Ipv4Addr, FlowError> {
            let known = self.hosts.get(host).map(|host| host.address);
            known.ok_or(FlowError::NoSuchHost(host, self.hosts.len() - 1))
        };
        if config.source == config.destination {
            return Err(FlowError::ToItself(config.source));
        }
        let protocol = match config.traffic {
            Traffic::Tcp(_) => tcp::PROTOCOL,
            Traffic::Udp(traffic) if traffic.payload_bytes > MAX_PAYLOAD_BYTES => {
                return Err(FlowError::PayloadTooLong(traffic.payload_bytes));
            }
            Traffic::Udp(_) => udp::PROTOCOL,
        };
        Ok(FiveTuple {
            source: IpAddr::V4(address(config.source)?),
            destination: IpAddr::V4(address(config.destination)?),
            protocol,
            source_port: config.source_port,
            destination_port: config.destination_port,
        })
    }

    fn initial_sequence_number(&mut self) -> u32 {
        u32::try_from(self.random.number() >> 32).unwrap_or(0)
    }
}

/// Converts a header back to units; `mine` and `theirs` are the initial sequence number of a stream and a
/// unit near its current position.
fn read_segment(header: &TcpHeader, length: usize, mine: (u32, u64), theirs: (u32, u64)) -> Option<Segment> {
    let flags = header.offset_flags.get();
    let acknowledgment = match flags & ACK {
        0 => None,
        _ => Some(from_wire(mine.0, mine.1, header.acknowledgment.get())?),
    };
    let sequence = from_wire(theirs.0, theirs.1, header.sequence.get())?;
    Some(Segment { syn: flags & SYN != 0, fin: flags & FIN != 0, sequence, acknowledgment, length })
}
