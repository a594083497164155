//! The questions and answers of a trial: one UDP flow to the control port of the destination's agent.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::time::{Duration, Instant};

use inband_linux::tap::Tap;
use inband_node::NodeConfig;
use ring::rand::{SecureRandom, SystemRandom};

use super::outcome::PeerAgent;
use crate::error::HostError;
use crate::headers::{Headers, UDP};
use crate::lease::{Body, Keys, MESSAGE_BYTES, Message, Probe, dialect};
use crate::prober::Prober;
use crate::settings::HostSettings;

/// A flow of this trial's own.
pub(super) struct Exchange {
    socket: UdpSocket,
    /// Receives the answers to probes. The flow's own port cannot: with address translation an answer to a
    /// probe, which is not translated, would be mistaken for one of the flow.
    replies: UdpSocket,
    source: (IpAddr, u16),
    destination: (IpAddr, u16),
    keys: Keys,
    node_id: u32,
    dialect: u64,
    /// A datagram of the flow as it left.
    template: Vec<u8>,
    device: u32,
    /// Interface identifiers of the host and of the device.
    interfaces: (u16, u16),
    random: SystemRandom,
    /// How long an answer is awaited.
    patience: Duration,
}

/// The outcome of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The destination's sink removed INT from it.
    Removed,
    /// No answer confirms its arrival.
    Lost,
    /// Packets of the flow cannot carry this INT.
    NotMade,
}

/// The least time that an answer is awaited, and the most; and how often each question is sent.
const PATIENCE: Duration = Duration::from_millis(250);
const MAX_PATIENCE: Duration = Duration::from_secs(2);
const TRIES: u32 = 2;
/// How much longer an answer is awaited than the first one took.
const SLOWER: u32 = 4;
/// How long the first answer is awaited each time; the path and the other host may be slow.
const FIRST_PATIENCE: [Duration; 3] = [PATIENCE, Duration::from_millis(500), Duration::from_secs(1)];
/// How long the destination's agent may take to notice a packet of the flow.
const FLOW_PATIENCE: Duration = Duration::from_millis(500);

impl Exchange {
    /// Opens a flow to `destination`, and finds the device that its packets leave by.
    pub(super) fn open(
        settings: &HostSettings,
        node: &NodeConfig,
        destination: IpAddr,
    ) -> Result<Self, HostError> {
        let fault = |reason| HostError::system(format!("send to {destination}"), reason);
        let any: IpAddr = match destination {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let port = settings.host.control_port.get();
        let socket = UdpSocket::bind((any, 0)).map_err(fault)?;
        socket.connect((destination, port)).map_err(fault)?;
        let local = socket.local_addr().map_err(fault)?;
        let replies = UdpSocket::bind((local.ip(), 0)).map_err(fault)?;
        let mut exchange = Self {
            socket,
            replies,
            source: (local.ip(), local.port()),
            destination: (destination, port),
            keys: settings.host.shared_keys()?,
            node_id: node.node.id,
            dialect: dialect(node),
            template: Vec::new(),
            device: 0,
            interfaces: (settings.host.interface, settings.host.interface ^ 1),
            random: SystemRandom::new(),
            patience: PATIENCE,
        };
        let tap = Tap::of_udp_port(local.port());
        let tap = tap.map_err(|reason| HostError::system("see packets of this host", reason))?;
        (exchange.template, exchange.device) = exchange.capture(&tap)?;
        exchange.open_the_way();
        Ok(exchange)
    }

    /// The interface index of the device that the flow leaves by.
    pub(super) const fn device(&self) -> u32 {
        self.device
    }

    /// The flow's source address.
    pub(super) const fn source(&self) -> IpAddr {
        self.source.0
    }

    /// Sets the interface identifier of the device.
    pub(super) const fn set_interface(&mut self, id: Option<u16>) {
        if let Some(id) = id {
            self.interfaces.1 = id;
        }
    }

    /// Asks the destination's agent whether it removes INT of this host. Later answers are awaited for as
    /// long as this one makes likely.
    pub(super) fn ask(&mut self) -> Result<PeerAgent, HostError> {
        for patience in FIRST_PATIENCE {
            let nonce = self.send_ask()?;
            let since = Instant::now();
            let is_meant = |body: &Body| matches!(body, Body::Agree | Body::Refuse(_));
            let answer = self.answer(&self.socket, nonce, patience, is_meant);
            if answer.is_some() {
                self.patience = (since.elapsed() * SLOWER).clamp(PATIENCE, MAX_PATIENCE);
            }
            match answer.map(|answer| (answer.node_id, answer.body)) {
                Some((node_id, Body::Refuse(refusal))) => {
                    return Ok(PeerAgent::Refuses { node_id, reason: refusal.text() });
                }
                Some((node_id, _)) => return Ok(PeerAgent::Agrees { node_id }),
                None => {}
            }
        }
        Ok(PeerAgent::Silent)
    }

    /// Sends a probe of `length` bytes of IP with the INT of `node`.
    pub(super) fn probe(&self, node: &NodeConfig, length: u32) -> Result<Answer, HostError> {
        for _ in 0..TRIES {
            let nonce = self.nonce();
            if !self.send_probe(node, length, nonce) {
                return Ok(Answer::NotMade);
            }
            // A refusal proves the removal of INT, too: only a sink passes a probe to its agent.
            if self.answer(&self.replies, nonce, self.patience, |_| true).is_some() {
                return Ok(Answer::Removed);
            }
        }
        Ok(Answer::Lost)
    }

    /// Whether datagrams of the flow come in by the same device as its probes.
    pub(super) fn has_flow_arrived(&self, node: &NodeConfig, length: u32) -> Result<bool, HostError> {
        for _ in 0..TRIES {
            let nonce = self.nonce();
            if !self.send_probe(node, length, nonce) {
                return Ok(false);
            }
            let is_seen = |body: &Body| matches!(body, Body::Seen(_));
            if self.answer(&self.replies, nonce, self.patience, is_seen).is_none() {
                continue;
            }
            self.send_ask()?;
            let is_grant = |body: &Body| matches!(body, Body::Grant { .. });
            if self.answer(&self.replies, nonce, self.patience.max(FLOW_PATIENCE), is_grant).is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sends questions until one is captured on its way out.
    fn capture(&self, tap: &Tap) -> Result<(Vec<u8>, u32), HostError> {
        for _ in 0..4 * TRIES {
            self.send_ask()?;
            let seen = tap.receive(PATIENCE);
            let seen = seen.map_err(|reason| HostError::system("see packets of this host", reason))?;
            let of_flow = seen.filter(|(frame, _)| {
                Headers::read(frame).is_some_and(|headers| {
                    headers.flow.protocol == UDP && headers.flow.destination == self.destination.0
                })
            });
            if let Some(seen) = of_flow {
                return Ok(seen);
            }
        }
        let reason = io::Error::new(
            io::ErrorKind::HostUnreachable,
            "no packet left by a device with frames of Ethernet: is its next hop there?",
        );
        Err(HostError::system(format!("send to {}", self.destination.0), reason))
    }

    /// Opens a firewall of this host for answers to probes.
    fn open_the_way(&self) {
        let question = self.message(self.nonce(), Body::Ask { dialect: self.dialect });
        // If it cannot be sent, answers may pass anyway.
        let _ = self.replies.send_to(&question.to_bytes(&self.keys), self.destination);
    }

    fn send_ask(&self) -> Result<u64, HostError> {
        let nonce = self.nonce();
        let message = self.message(nonce, Body::Ask { dialect: self.dialect });
        match self.socket.send(&message.to_bytes(&self.keys)) {
            // An earlier question met a closed port.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(nonce),
            Err(reason) => Err(HostError::system(format!("send to {}", self.destination.0), reason)),
            Ok(_) => Ok(nonce),
        }
    }

    /// Sends a probe; `false`: such packets cannot carry this INT.
    fn send_probe(&self, node: &NodeConfig, length: u32, nonce: u64) -> bool {
        let body = Body::Probe {
            // The lease expires at once: a trial causes no INT.
            lease_ms: 0,
            dialect: dialect(node),
            ports: (self.source.1, self.destination.1),
            protocol: UDP,
            reply_port: self.replies.local_addr().map_or(self.source.1, |local| local.port()),
            length: 0,
        };
        let probe = Probe { message: self.message(nonce, body), length };
        let (host, device) = self.interfaces;
        let mut prober = Prober::new(node, host);
        prober.send(&self.template, &probe, &self.keys, (self.device, device));
        prober.sent > 0
    }

    const fn message(&self, nonce: u64, body: Body) -> Message {
        let (source, destination) = (self.source.0, self.destination.0);
        Message { nonce, node_id: self.node_id, source, destination, body }
    }

    /// The first answer to the question with this nonce that `is_meant`; `None`: there was none in time.
    fn answer(
        &self,
        socket: &UdpSocket,
        nonce: u64,
        patience: Duration,
        is_meant: impl Fn(&Body) -> bool,
    ) -> Option<Message> {
        let until = Instant::now() + patience;
        let mut bytes = [0; MESSAGE_BYTES + 1];
        loop {
            let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            socket.set_read_timeout(Some(left)).ok()?;
            // A closed port, or an interrupted call: the wait continues.
            let Ok(length) = socket.recv(&mut bytes) else { continue };
            let message = bytes.get(..length).and_then(|bytes| Message::from_bytes(bytes, &self.keys));
            if let Some(message) = message.filter(|message| message.nonce == nonce && is_meant(&message.body))
            {
                return Some(message);
            }
        }
    }

    fn nonce(&self) -> u64 {
        let mut bytes = [0; 8];
        // Without random numbers all nonces are equal: the trial at worst mistakes one answer for another.
        let _ = self.random.fill(&mut bytes);
        u64::from_ne_bytes(bytes)
    }
}
