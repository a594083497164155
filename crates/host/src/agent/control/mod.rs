//! The agent's part in leases: probes and their answers, which are UDP datagrams to and from a port of the agents' own.

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use inband_linux::clock::{self, Clock};
use inband_linux::device::Device;
use inband_node::NodeConfig;
use ring::rand::{SecureRandom, SystemRandom};
use socket2::{Domain, Protocol, Socket, Type};

use crate::abi::{MAX_WITNESSES, Proof};
use crate::clocks;
use crate::error::HostError;
use crate::headers::Headers;
use crate::lease::{
    Answer, Arrived, Asker, Body, Change, Flow, FlowState, Granter, Keys, Limits, MESSAGE_BYTES, Message,
    PathLosses, PeerClock, Stamp, Unproven, Withheld, dialect,
};
use crate::prober::Prober;
use crate::programs::Programs;
use crate::rules::MappedPrefix;
use crate::settings::{HostSection, PeerSettings};

/// What the agent asks of others, and what it grants them.
pub(super) struct Control {
    port: u16,
    keys: Keys,
    prober: Prober,
    asker: Asker,
    granter: Granter,
    /// Where it asks from, by IP version; one that this host does not have is not there.
    questions: Vec<UdpSocket>,
    /// Where it is asked: sockets that hear one device each, on which INT is taken out.
    gates: Vec<Gate>,
    random: SystemRandom,
    /// Who has been told of to have refused.
    refused: HashSet<IpAddr>,
    /// Who may be sent INT.
    peers: Vec<PeerSettings>,
    node_id: u32,
    clock: Clock,
    /// Of each place where the programs count packets with INT that come in, since when they are of its flow.
    generations: Vec<u32>,
    losses: PathLosses,
    /// Addresses of other hosts with this one's node id, and with clocks that cannot be compared, of which was told.
    told: HashSet<(IpAddr, &'static str)>,
    notes: Vec<String>,
}

struct Gate {
    device: u32,
    socket: UdpSocket,
}

/// Most datagrams of one socket in a turn.
const MOST_DATAGRAMS: usize = 256;
/// Most addresses of which a refusal is told.
const MOST_REFUSED: usize = 1000;
const ANY: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];

impl Control {
    pub(super) fn open(host: &HostSection, node: &NodeConfig) -> Result<Self, HostError> {
        let questions = ANY.iter().filter_map(|address| open(SocketAddr::new(*address, 0), None).ok());
        let (id, dialect) = (node.node.id, dialect(node));
        let limits =
            Limits { per_second: host.probes_per_second.get(), per_minute: host.probes_per_minute.get() };
        let random = SystemRandom::new();
        let mut first = [0; 4];
        // An agent that starts again counts from other numbers; where there are none, from the time.
        if random.fill(&mut first).is_err() {
            first = u32::try_from(clock::monotonic() >> 32).unwrap_or_default().to_ne_bytes();
        }
        let generations = vec![u32::from_ne_bytes(first); usize::try_from(MAX_WITNESSES).unwrap_or_default()];
        Ok(Self {
            port: host.control_port.get(),
            keys: host.shared_keys()?,
            prober: Prober::new(node, host.interface),
            asker: Asker::new(id, dialect, host.lease_ms, limits),
            granter: Granter::new(id, dialect, host.lease_ms),
            questions: questions.collect(),
            gates: Vec::new(),
            random,
            refused: HashSet::new(),
            peers: Vec::new(),
            node_id: id,
            clock: host.clock,
            generations,
            losses: PathLosses::default(),
            told: HashSet::new(),
            notes: Vec::new(),
        })
    }

    /// Goes on removing INT of addresses of which an earlier agent did.
    pub(super) fn take_over(
        &mut self,
        addresses: Vec<IpAddr>,
        programs: &mut Programs,
        now: u64,
    ) -> Result<(), HostError> {
        for address in addresses {
            programs.grant(address)?;
            self.granter.take_over(address, now);
        }
        Ok(())
    }

    /// Grants leases to who asks by `device`, on which INT is taken out.
    pub(super) fn open_gate(&mut self, device: &Device) -> Result<(), HostError> {
        let fault =
            |reason| HostError::system(format!("hear UDP port {} on {}", self.port, device.name), reason);
        for address in ANY {
            match open(SocketAddr::new(address, self.port), Some(&device.name)) {
                Ok(socket) => self.gates.push(Gate { device: device.index, socket }),
                // This host has no IPv6.
                Err(error) if address.is_ipv6() && error.raw_os_error() == Some(libc::EAFNOSUPPORT) => {}
                Err(reason) => return Err(fault(reason)),
            }
        }
        Ok(())
    }

    /// Ends the leases of who asked by `device`.
    pub(super) fn close_gate(&mut self, device: u32, now: u64) {
        self.withdraw(Some(device), now);
        self.gates.retain(|gate| gate.device != device);
    }

    /// How many flows have a lease.
    pub(super) fn leases_held(&self) -> usize {
        self.asker.held(clock::monotonic())
    }

    /// Every flow that is known, what stands between it and INT, and until when it has a lease.
    pub(super) fn states(&self, now: u64) -> impl Iterator<Item = (Flow, FlowState, u64)> {
        self.asker.states(now)
    }

    /// How many probes were sent, and how many could not be.
    pub(super) const fn probes(&self) -> (u64, u64) {
        (self.prober.sent, self.prober.failed)
    }

    /// Whether a packet of a flow is waited for, so that a lease can be granted.
    pub(super) fn is_waiting(&self) -> bool {
        self.granter.waiting().next().is_some()
    }

    /// How many sources have been granted one.
    pub(super) fn leases_granted(&self) -> usize {
        self.granter.granted(clock::monotonic())
    }

    /// Everything to wait for.
    pub(super) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let gates = self.gates.iter().map(|gate| gate.socket.as_fd());
        self.questions.iter().map(AsFd::as_fd).chain(gates)
    }

    /// Probes a flow, of which `packet` is, if it is time for that; it leaves by `device`.
    pub(super) fn handle_unproven(
        &mut self,
        unproven: &Unproven,
        packet: &[u8],
        device: (u32, u16),
        programs: &mut Programs,
        now: u64,
    ) {
        let address = unproven.flow.destination;
        let reply_port = self.question(address).and_then(|socket| socket.local_addr().ok());
        let Some(reply_port) = reply_port.map(|address| address.port()) else { return };
        let (nonce, other) = (self.nonce(), self.nonce());
        let Some(probe) = self.asker.handle_unproven(unproven, reply_port, now, nonce) else { return };
        // It opens the way for answers through a firewall of this host, and says why not where no probe arrives.
        if let (Some(ask), Some(socket)) =
            (self.asker.ask(&unproven.flow, now, other), self.question(address))
        {
            self.send(socket, SocketAddr::new(address, self.port), ask);
        }
        let before = programs.sent_with_int(&unproven.flow);
        self.prober.send(packet, &probe, &self.keys, device);
        if let (Ok(before), Ok(after)) = (before, programs.sent_with_int(&unproven.flow)) {
            self.losses.handle_probe(unproven.flow, nonce, before, after);
        }
    }

    /// Answers a probe, whose bytes behind the headers begin with `message`.
    pub(super) fn handle_probe(
        &mut self,
        message: &[u8],
        headers: &Headers,
        (device, arrived): (u32, u32),
        programs: &mut Programs,
        (now, clock_offset): (u64, u64),
    ) {
        let Some(message) = Message::from_bytes(message, &self.keys) else { return };
        let (flow, length) = (headers.flow, u32::try_from(headers.length).ok());
        let Flow { source, destination, .. } = flow;
        let is_of_flow = match message.body {
            Body::Probe { ports, protocol, length: said, .. } => {
                ports == (flow.source_port, flow.destination_port)
                    && protocol == flow.protocol
                    && Some(said) == length
            }
            _ => false,
        };
        if !is_of_flow || (message.source, message.destination) != (source, destination) {
            return;
        }
        let is_peer = self.is_peer(source);
        self.notice_id(source, message.node_id);
        let Some(mut answer) = self.granter.handle_probe(&message, (flow, is_peer), device, now) else {
            return;
        };
        if let Body::Seen(stamp) = &mut answer.message.body {
            *stamp = Stamp { clock: clocks::code(self.clock), time: now.wrapping_add(clock_offset) };
            let Ok((place, is_known)) = programs.await_flow(&flow, device) else { return };
            let generation = self.generation(place, is_known);
            self.granter.set_arrived(&flow, Arrived { generation, packets: arrived });
        }
        self.answer(&answer);
    }

    /// The number of the count at a place, another one where it was another flow's before.
    fn generation(&mut self, place: u32, is_known: bool) -> u32 {
        let of_place = usize::try_from(place).ok().and_then(|place| self.generations.get_mut(place));
        let Some(generation) = of_place else { return 0 };
        if !is_known {
            *generation = generation.wrapping_add(1).max(1);
        }
        *generation
    }

    /// Tells once of a host that says it has this one's node id.
    fn notice_id(&mut self, address: IpAddr, node_id: u32) {
        if node_id == self.node_id {
            self.tell_once((address, "node id"), || {
                format!(
                    "{address} has this host's node id, {node_id}: a collector takes the two for one node"
                )
            });
        }
    }

    /// Tells once of a host whose times cannot be compared with this one's.
    fn notice_clock(&mut self, address: IpAddr, kind: u8) {
        let (own, other) = (self.clock, clocks::from_code(kind));
        if kind != 0 && !other.is_some_and(|other| clocks::are_comparable(own, other)) {
            let other = other.map_or("another kind", Clock::name);
            self.tell_once((address, "clock"), || {
                format!(
                    "latency between this host and {address} is not known: host.clock is {} here, and {other} there",
                    own.name()
                )
            });
        }
    }

    fn tell_once(&mut self, about: (IpAddr, &'static str), note: impl FnOnce() -> String) {
        if self.told.len() < MOST_REFUSED && self.told.insert(about) {
            self.notes.push(note());
        }
    }

    /// Every destination whose agent has answered.
    pub(super) fn known_peers(&self) -> impl Iterator<Item = (IpAddr, u32, Option<PeerClock>)> {
        self.asker.peers()
    }

    /// This host's node id.
    pub(super) const fn node_id(&self) -> u32 {
        self.node_id
    }

    /// Probes that were due and not sent.
    pub(super) const fn withheld(&self) -> Withheld {
        self.asker.withheld()
    }

    /// How many packets with INT were counted on both sides, and how many of them are lost.
    pub(super) const fn losses(&self) -> (u64, u64) {
        self.losses.total()
    }

    /// The same of one flow; `None`: nobody counts it.
    pub(super) fn losses_of(&self, flow: &Flow) -> Option<(u64, u64)> {
        self.losses.of(flow)
    }

    /// Grants leases for flows of which a packet has come in.
    pub(super) fn grant(&mut self, programs: &mut Programs, now: u64) -> Result<(), HostError> {
        for (flow, device) in self.granter.waiting().collect::<Vec<_>>() {
            match programs.has_come(&flow, device)? {
                Some(true) => {
                    let Some((answer, is_new)) = self.granter.grant(&flow, now) else { continue };
                    if is_new {
                        programs.grant(flow.source)?;
                    }
                    self.answer(&answer);
                }
                Some(false) => {}
                // Another flow was waited for in its place.
                None => {
                    let (place, is_known) = programs.await_flow(&flow, device)?;
                    let generation = self.generation(place, is_known);
                    self.granter.set_arrived(&flow, Arrived { generation, packets: 0 });
                }
            }
        }
        Ok(())
    }

    /// Forgets what is over.
    pub(super) fn keep_leases(&mut self, programs: &mut Programs, now: u64) -> Result<(), HostError> {
        for flow in self.asker.forget_old(now) {
            programs.remove_proof(&flow)?;
            self.losses.forget(&flow);
        }
        for address in self.granter.forget_old(now) {
            programs.revoke(address)?;
        }
        Ok(())
    }

    fn is_peer(&self, address: IpAddr) -> bool {
        self.peers.iter().any(|peer| peer.prefix.contains(address))
    }

    /// Takes over the peers; leases of those that stay are kept.
    pub(super) fn set_peers(
        &mut self,
        peers: &[PeerSettings],
        programs: &mut Programs,
    ) -> Result<(), HostError> {
        let old = std::mem::replace(&mut self.peers, peers.to_vec());
        let is_in = |peers: &[PeerSettings], of: &PeerSettings| {
            peers.iter().any(|peer| (peer.prefix, peer.lease) == (of.prefix, of.lease))
        };
        for gone in old.iter().filter(|peer| !is_in(peers, peer)) {
            programs.remove_peer(&MappedPrefix::of(gone.prefix))?;
        }
        for new in peers.iter().filter(|peer| !is_in(&old, peer)) {
            programs.set_peer(&MappedPrefix::of(new.prefix), !new.lease)?;
        }
        let is_probed = |address| peers.iter().any(|peer| peer.lease && peer.prefix.contains(address));
        for flow in self.asker.forget_unless(is_probed) {
            self.losses.forget(&flow);
            programs.remove_proof(&flow)?;
        }
        Ok(())
    }

    /// Takes what has arrived; returns what users may want to know.
    pub(super) fn hear(&mut self, programs: &mut Programs, now: u64) -> Result<Vec<String>, HostError> {
        let mut notes = Vec::new();
        for number in 0..self.questions.len() {
            for _ in 0..MOST_DATAGRAMS {
                let Some((message, from)) =
                    self.questions.get(number).and_then(|socket| self.receive(socket))
                else {
                    break;
                };
                notes.extend(self.handle_answer(&message, from, programs, now)?);
            }
        }
        for number in 0..self.gates.len() {
            for _ in 0..MOST_DATAGRAMS {
                let Some(gate) = self.gates.get(number) else { break };
                let Some((message, from)) = self.receive(&gate.socket) else { break };
                let is_peer = self.is_peer(from.ip());
                let answer = self.granter.handle(&message, (from, is_peer), gate.device);
                if let Some(answer) = answer {
                    self.send(&gate.socket, from, answer);
                }
            }
        }
        self.grant(programs, now)?;
        notes.append(&mut self.notes);
        Ok(notes)
    }

    /// Ends leases that were granted, of one device or of all; `false` when nobody has one any more.
    pub(super) fn withdraw(&mut self, device: Option<u32>, now: u64) -> bool {
        let withdrawn = self.granter.withdraw(device, now);
        withdrawn.iter().for_each(|answer| self.answer(answer));
        !withdrawn.is_empty()
    }

    fn handle_answer(
        &mut self,
        message: &Message,
        from: SocketAddr,
        programs: &mut Programs,
        now: u64,
    ) -> Result<Option<String>, HostError> {
        let flow = self.asker.flow_of(message.nonce);
        let change = self.asker.handle(message, now);
        if flow.is_some() {
            self.notice_id(from.ip(), message.node_id);
        }
        if let (Some(flow), Body::Grant { arrived, .. }, Some(Change::Proof { .. })) =
            (flow, message.body, &change)
        {
            let sent = programs.sent_with_int(&flow)?;
            self.losses.handle_count(&flow, message.nonce, arrived, sent);
        }
        if let (Some(_), Body::Seen(stamp)) = (flow, message.body) {
            self.notice_clock(from.ip(), stamp.clock);
        }
        match change {
            Some(Change::Proof { flow, until, renew_at, mtu }) => {
                programs.set_proof(&flow, Proof { until, renew_at, told: 0, mtu, padding: 0 })?;
                Ok(None)
            }
            Some(Change::Withdrawn { flows, message }) => {
                flows.iter().try_for_each(|flow| programs.remove_proof(flow))?;
                if let Some(socket) = self.question(from.ip()) {
                    self.send(socket, from, message);
                }
                Ok(None)
            }
            Some(Change::Refused { address, flows, refusal }) => {
                flows.iter().try_for_each(|flow| programs.remove_proof(flow))?;
                let is_new = self.refused.len() < MOST_REFUSED && self.refused.insert(address);
                Ok(is_new.then(|| format!("no INT to {address}: {}", refusal.text())))
            }
            None => Ok(None),
        }
    }

    /// The next message of `socket`; what is none is passed over.
    fn receive(&self, socket: &UdpSocket) -> Option<(Message, SocketAddr)> {
        let mut bytes = [0; MESSAGE_BYTES + 1];
        for _ in 0..MOST_DATAGRAMS {
            let (length, from) = match socket.recv_from(&mut bytes) {
                Ok(received) => received,
                // What was sent earlier did not arrive.
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => continue,
                Err(_) => return None,
            };
            let message = bytes.get(..length).and_then(|bytes| Message::from_bytes(bytes, &self.keys));
            if let Some(message) = message {
                return Some((message, from));
            }
        }
        None
    }

    /// Sends an answer by the device that its question came in by.
    fn answer(&self, answer: &Answer) {
        let is_right =
            |gate: &&Gate| gate.device == answer.device && is_same_version(&gate.socket, answer.to);
        if let Some(gate) = self.gates.iter().find(is_right) {
            self.send(&gate.socket, answer.to, answer.message);
        }
    }

    /// The socket for questions to `address`.
    fn question(&self, address: IpAddr) -> Option<&UdpSocket> {
        self.questions.iter().find(|socket| is_same_version(socket, SocketAddr::new(address, 0)))
    }

    fn send(&self, socket: &UdpSocket, to: SocketAddr, message: Message) {
        // What cannot be sent is as what gets lost: it is said again.
        let _ = socket.send_to(&message.to_bytes(&self.keys), to);
    }

    /// A number nobody can guess; 0, which is the same for all, where the system has none, so that no lease comes of it.
    fn nonce(&self) -> u64 {
        let mut bytes = [0; 8];
        match self.random.fill(&mut bytes) {
            Ok(()) => u64::from_ne_bytes(bytes),
            Err(_) => 0,
        }
    }
}

fn open(address: SocketAddr, device: Option<&str>) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind_device(device.map(str::as_bytes))?;
    socket.bind(&address.into())?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

fn is_same_version(socket: &UdpSocket, address: SocketAddr) -> bool {
    socket.local_addr().is_ok_and(|local| local.is_ipv4() == address.is_ipv4())
}
