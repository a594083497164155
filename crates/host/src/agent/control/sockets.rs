//! The UDP sockets of the agents' port: one side asks, the other answers.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use inband_linux::device::Device;
use inband_linux::origin;
use socket2::{Domain, Protocol, Socket, Type};

use crate::error::HostError;
use crate::lease::{Answer, Keys, MESSAGE_BYTES, Message};

/// The sockets, and the keys for messages in both directions.
pub(super) struct Sockets {
    port: u16,
    pub(super) keys: Keys,
    /// Sockets for questions, one for each IP version that this host has.
    questions: Vec<UdpSocket>,
    /// Sockets for questions from others: each bound to one device where INT is removed.
    gates: Vec<Gate>,
    /// Those that are missing, because another program has the port.
    missing: Vec<Missing>,
}

struct Gate {
    device: u32,
    socket: UdpSocket,
}

struct Missing {
    device: Device,
    address: IpAddr,
}

/// How often another port is requested where the kernel's choice is the agents' own.
const MAX_CHOICES: usize = 4;
/// Maximum number of datagrams taken from one socket in a turn.
pub(super) const MAX_DATAGRAMS: usize = 256;
const ANY: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];

impl Sockets {
    /// Opens the sockets for outgoing questions.
    pub(super) fn open(port: u16, keys: Keys) -> Self {
        let questions = ANY.iter().filter_map(|address| open_other(*address, port).ok());
        Self { port, keys, questions: questions.collect(), gates: Vec::new(), missing: Vec::new() }
    }

    /// Receives questions that come in by `device`; returns `false` where another program has the port, which
    /// [`Self::open_missing`] tries again.
    pub(super) fn open_gate(&mut self, device: &Device) -> Result<bool, HostError> {
        let mut is_open = true;
        for address in ANY {
            match open(SocketAddr::new(address, self.port), Some(&device.name)) {
                Ok(socket) => self.gates.push(Gate { device: device.index, socket }),
                // This host has no IPv6.
                Err(error) if address.is_ipv6() && error.raw_os_error() == Some(libc::EAFNOSUPPORT) => {}
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    self.missing.push(Missing { device: device.clone(), address });
                    is_open = false;
                }
                Err(reason) => {
                    let what = format!("hear UDP port {} on {}", self.port, device.name);
                    return Err(HostError::system(what, reason));
                }
            }
        }
        Ok(is_open)
    }

    /// Tries again to receive questions where another program had the port; returns the names of the devices
    /// where that has succeeded for both IP versions.
    pub(super) fn open_missing(&mut self) -> Vec<String> {
        let mut opened = Vec::new();
        for missing in std::mem::take(&mut self.missing) {
            match open(SocketAddr::new(missing.address, self.port), Some(&missing.device.name)) {
                Ok(socket) => {
                    self.gates.push(Gate { device: missing.device.index, socket });
                    opened.push(missing.device.name);
                }
                Err(_) => self.missing.push(missing),
            }
        }
        opened.sort_unstable();
        opened.dedup();
        opened.retain(|name| self.missing.iter().all(|missing| missing.device.name != *name));
        opened
    }

    /// Stops receiving questions by `device`.
    pub(super) fn close_gate(&mut self, device: u32) {
        self.gates.retain(|gate| gate.device != device);
        self.missing.retain(|missing| missing.device.index != device);
    }

    /// The agents' own port.
    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// Every socket to poll.
    pub(super) fn all(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let gates = self.gates.iter().map(|gate| gate.socket.as_fd());
        self.questions.iter().map(AsFd::as_fd).chain(gates)
    }

    /// The numbers of sockets for outgoing and for incoming questions.
    pub(super) const fn counts(&self) -> (usize, usize) {
        (self.questions.len(), self.gates.len())
    }

    /// The port to which `destination` sends answers about flows of `source`: that of a socket here, or the
    /// agents' own port where `source` is a container's address, for which the programs intercept the answer.
    /// `None`: this host has no address of that version.
    pub(super) fn reply_port(&self, source: IpAddr, destination: IpAddr) -> Option<u16> {
        let own = self.question(destination)?.local_addr().ok()?.port();
        Some(if is_own(source) { own } else { self.port })
    }

    /// Asks the agent at `address`.
    pub(super) fn ask(&self, address: IpAddr, message: Message) {
        self.confirm(SocketAddr::new(address, self.port), message);
    }

    /// Sends `message` by the socket for questions to that address.
    pub(super) fn confirm(&self, to: SocketAddr, message: Message) {
        if let Some(socket) = self.question(to.ip()) {
            self.send(socket, to, message);
        }
    }

    /// The next message that answers a question of the socket at `number`.
    pub(super) fn next_answer(&self, number: usize) -> Option<(Message, SocketAddr)> {
        self.receive(self.questions.get(number)?)
    }

    /// The next question at the socket at `number`, and the device it came in by.
    pub(super) fn next_question(&self, number: usize) -> Option<(Message, SocketAddr, u32)> {
        let gate = self.gates.get(number)?;
        self.receive(&gate.socket).map(|(message, from)| (message, from, gate.device))
    }

    /// Answers a question by the socket at `number`, which it came in by.
    pub(super) fn reply(&self, number: usize, to: SocketAddr, message: Message) {
        if let Some(gate) = self.gates.get(number) {
            self.send_from(&gate.socket, to, message);
        }
    }

    /// Sends an answer by the device that its question came in by.
    pub(super) fn answer(&self, answer: &Answer) {
        let is_right =
            |gate: &&Gate| gate.device == answer.device && is_same_version(&gate.socket, answer.to);
        if let Some(gate) = self.gates.iter().find(is_right) {
            self.send_from(&gate.socket, answer.to, answer.message);
        }
    }

    /// The next message of `socket`; other datagrams are skipped.
    fn receive(&self, socket: &UdpSocket) -> Option<(Message, SocketAddr)> {
        let mut bytes = [0; MESSAGE_BYTES + 1];
        for _ in 0..MAX_DATAGRAMS {
            let (length, from) = match socket.recv_from(&mut bytes) {
                Ok(received) => received,
                // The error of an earlier datagram, which did not arrive.
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

    /// The socket for questions to `address`.
    fn question(&self, address: IpAddr) -> Option<&UdpSocket> {
        self.questions.iter().find(|socket| is_same_version(socket, SocketAddr::new(address, 0)))
    }

    /// Sends an answer from the address that was asked: a firewall in front of the other host, which saw the
    /// question, lets no other through.
    fn send_from(&self, socket: &UdpSocket, to: SocketAddr, message: Message) {
        // A message that cannot be sent counts as lost: it is repeated.
        let _ = origin::send(socket, &message.to_bytes(&self.keys), to, message.destination);
    }

    fn send(&self, socket: &UdpSocket, to: SocketAddr, message: Message) {
        // A message that cannot be sent counts as lost: it is repeated.
        let _ = socket.send_to(&message.to_bytes(&self.keys), to);
    }
}

/// Opens a socket with any port but `port`, which the kernel may choose like others.
fn open_other(address: IpAddr, port: u16) -> io::Result<UdpSocket> {
    let mut sockets = Vec::new();
    for _ in 0..MAX_CHOICES {
        let socket = open(SocketAddr::new(address, 0), None)?;
        if socket.local_addr()?.port() != port {
            return Ok(socket);
        }
        // As long as it is open, the kernel chooses another port.
        sockets.push(socket);
    }
    Err(io::ErrorKind::AddrInUse.into())
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

/// Whether `address` belongs to this host; always true where sockets may bind any address
/// (`ip_nonlocal_bind`).
fn is_own(address: IpAddr) -> bool {
    match UdpSocket::bind((address, 0)) {
        Err(error) => error.kind() != io::ErrorKind::AddrNotAvailable,
        Ok(_) => true,
    }
}

fn is_same_version(socket: &UdpSocket, address: SocketAddr) -> bool {
    socket.local_addr().is_ok_and(|local| local.is_ipv4() == address.is_ipv4())
}
