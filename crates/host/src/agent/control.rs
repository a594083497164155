//! How do agents reach each other? Over UDP, on a port of their own.

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use inband_node::NodeConfig;
use inband_node::config::Prefix;
use ring::rand::{SecureRandom, SystemRandom};
use socket2::{Domain, Protocol, Socket, Type};

use crate::abi::Lease;
use crate::clock;
use crate::devices::Device;
use crate::error::HostError;
use crate::lease::{Asker, Body, Change, Granter, Key, MESSAGE_BYTES, Message, dialect};
use crate::programs::Programs;
use crate::rules::MappedPrefix;
use crate::settings::{HostSection, PeerSettings};

/// The agent's part in leases: what it asks, and what it grants.
pub(super) struct Control {
    port: u16,
    key: Option<Key>,
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
        let key = host.key_file.as_deref().map(|path| match std::fs::read(path) {
            Ok(secret) => Ok(Key::new(secret.trim_ascii())),
            Err(reason) => Err(HostError::system(format!("read the key in {}", path.display()), reason)),
        });
        let questions = ANY.iter().filter_map(|address| open(SocketAddr::new(*address, 0), None).ok());
        let (id, dialect) = (node.node.id, dialect(node));
        Ok(Self {
            port: host.control_port.get(),
            key: key.transpose()?,
            asker: Asker::new(id, dialect, host.lease_ms),
            granter: Granter::new(id, dialect, host.lease_ms),
            questions: questions.collect(),
            gates: Vec::new(),
            random: SystemRandom::new(),
            refused: HashSet::new(),
            peers: Vec::new(),
        })
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

    /// How many destinations have granted a lease.
    pub(super) fn leases_held(&self) -> usize {
        self.asker.leased().count()
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

    /// There is watched traffic to `address`, and nobody has said that it takes INT out.
    pub(super) fn handle_unleased(&mut self, address: IpAddr, now: u64) {
        let nonce = self.nonce();
        let ask = self.asker.handle_unleased(address, now, nonce);
        self.send_question(address, ask);
    }

    /// Renews leases that are used, and forgets those that are over.
    pub(super) fn keep_leases(&mut self, programs: &mut Programs, now: u64) -> Result<(), HostError> {
        for address in self.asker.leased().collect::<Vec<_>>() {
            if let Some(used) = programs.last_use(&host(address))? {
                self.asker.handle_use(address, used);
            }
        }
        for address in self.asker.due(now) {
            let nonce = self.nonce();
            let ask = self.asker.ask(address, now, nonce);
            self.send_question(address, ask);
        }
        for address in self.asker.forget_old(now) {
            self.end_lease(address, programs)?;
        }
        Ok(())
    }

    /// Takes over who may be sent INT; leases of who still is one of them stay.
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
            programs.remove_lease(&MappedPrefix::of(gone.prefix))?;
        }
        for new in peers.iter().filter(|peer| !is_in(&old, peer)) {
            programs.set_lease(&MappedPrefix::of(new.prefix), unleased(new))?;
        }
        let is_asked = |address| peers.iter().any(|peer| peer.lease && peer.prefix.contains(address));
        for address in self.asker.forget_unless(is_asked) {
            self.end_lease(address, programs)?;
        }
        Ok(())
    }

    /// Leaves `address` to what the peers' prefixes say, of which one may be the address itself.
    fn end_lease(&self, address: IpAddr, programs: &mut Programs) -> Result<(), HostError> {
        let host = host(address);
        match self.peers.iter().find(|peer| MappedPrefix::of(peer.prefix) == host) {
            Some(peer) => programs.set_lease(&host, unleased(peer)),
            None => programs.remove_lease(&host),
        }
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
                let answer = self.granter.handle(&message, from, gate.device, now);
                if let Some(answer) = answer {
                    self.send(&gate.socket, from, answer);
                }
            }
        }
        Ok(notes)
    }

    /// Ends leases that were granted, of one device or of all; `false` when nobody has one any more.
    pub(super) fn withdraw(&mut self, device: Option<u32>, now: u64) -> bool {
        let withdrawn = self.granter.withdraw(device, now);
        for (to, device, message) in &withdrawn {
            let is_right = |gate: &&Gate| gate.device == *device && is_same_version(&gate.socket, *to);
            if let Some(gate) = self.gates.iter().find(is_right) {
                self.send(&gate.socket, *to, *message);
            }
        }
        !withdrawn.is_empty()
    }

    fn handle_answer(
        &mut self,
        message: &Message,
        from: SocketAddr,
        programs: &mut Programs,
        now: u64,
    ) -> Result<Option<String>, HostError> {
        match self.asker.handle(message, now) {
            Some(Change::Lease { address, until }) => {
                let used = programs.last_use(&host(address))?.unwrap_or_default().max(now);
                programs.set_lease(&host(address), Lease { until, used, ask: 1, padding: 0 })?;
                Ok(None)
            }
            Some(Change::Withdrawn { address, nonce }) => {
                self.end_lease(address, programs)?;
                let acknowledgement = Message { nonce, body: Body::Withdrawn, ..*message };
                if let Some(socket) = self.questions.iter().find(|socket| is_same_version(socket, from)) {
                    self.send(socket, from, acknowledgement);
                }
                Ok(None)
            }
            Some(Change::Refused { address, refusal }) => {
                self.end_lease(address, programs)?;
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
            let message = bytes.get(..length).and_then(|bytes| Message::from_bytes(bytes, self.key.as_ref()));
            if let Some(message) = message {
                return Some((message, from));
            }
        }
        None
    }

    fn send_question(&self, address: IpAddr, ask: Option<Message>) {
        let to = SocketAddr::new(address, self.port);
        let socket = self.questions.iter().find(|socket| is_same_version(socket, to));
        if let (Some(ask), Some(socket)) = (ask, socket) {
            self.send(socket, to, ask);
        }
    }

    fn send(&self, socket: &UdpSocket, to: SocketAddr, message: Message) {
        // What cannot be sent is as what gets lost: it is said again.
        let _ = socket.send_to(&message.to_bytes(self.key.as_ref()), to);
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

/// What is known of a peer before anybody is asked.
fn unleased(peer: &PeerSettings) -> Lease {
    let until = if peer.lease { 0 } else { u64::MAX };
    Lease { until, ask: u32::from(peer.lease), ..Lease::default() }
}

/// The prefix that is one address.
fn host(address: IpAddr) -> MappedPrefix {
    MappedPrefix::of(Prefix::new(address, 128))
}
