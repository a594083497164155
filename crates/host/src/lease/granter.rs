//! Who has a lease of this sink, and who has to be told that it ends?

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use super::flow::Flow;
use super::message::{Arrived, Body, Message, Refusal, Stamp};

/// A sink's leases. Times are of the monotonic clock, nanoseconds.
#[derive(Debug)]
pub(crate) struct Granter {
    node_id: u32,
    dialect: u64,
    max_lease_ms: u32,
    /// By who has a lease, for which address, on which device.
    granted: HashMap<Grantee, Granted>,
    /// When INT of an address is left alone again.
    senders: HashMap<IpAddr, u64>,
    /// Flows whose probe has come in, and of which no packet has since.
    pending: HashMap<Flow, Pending>,
    is_ending: bool,
}

/// Addresses, and not flows: their number is that of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Grantee {
    source: IpAddr,
    destination: IpAddr,
    device: u32,
}

#[derive(Clone, Copy, Debug)]
struct Granted {
    reply: SocketAddr,
    nonce: u64,
    until: u64,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    nonce: u64,
    lease_ms: u32,
    reply_port: u16,
    device: u32,
    at: u64,
    arrived: Arrived,
}

/// A message to send, and by which device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) to: SocketAddr,
    pub(crate) device: u32,
    pub(crate) message: Message,
}

/// Most leases, and as many addresses; the kernel's table has room for as many.
pub(super) const MAX_GRANTED: usize = 4096;
/// Most flows that wait for a packet.
pub(super) const MAX_PENDING: usize = 4096;
/// How long they wait.
pub(super) const WAIT_NS: u64 = 5_000_000_000;
/// How long INT of an address is still removed when its leases are over.
pub(super) const KEEP_NS: u64 = 60_000_000_000;

impl Granter {
    pub(crate) fn new(node_id: u32, dialect: u64, max_lease_ms: u32) -> Self {
        Self {
            node_id,
            dialect,
            max_lease_ms,
            granted: HashMap::new(),
            senders: HashMap::new(),
            pending: HashMap::new(),
            is_ending: false,
        }
    }

    /// Takes over `address`, whose INT an earlier agent removed.
    pub(crate) fn take_over(&mut self, address: IpAddr, now: u64) {
        self.senders.insert(address, now + KEEP_NS);
    }

    /// Answers a datagram of a peer, or of somebody else, that came in by `device`.
    pub(crate) fn handle(&mut self, message: &Message, is_peer: bool, device: u32) -> Option<Message> {
        let Message { nonce, source, destination, body, .. } = *message;
        let body = match body {
            Body::Ask { dialect } => match self.judge(dialect, is_peer) {
                Err(refusal) => Body::Refuse(refusal),
                Ok(()) => Body::Agree,
            },
            Body::Withdrawn => {
                let grantee = Grantee { source, destination, device };
                // For a container the agent of its host answers.
                let is_its = |granted: &Granted| granted.nonce == nonce;
                if is_peer && self.granted.get(&grantee).is_some_and(is_its) {
                    self.granted.remove(&grantee);
                }
                return None;
            }
            _ => return None,
        };
        Some(Message { node_id: self.node_id, body, ..*message })
    }

    /// A probe of `flow` has come in by `device` and lost its INT: the first answer. Its flow is waited for, unless that
    /// refuses.
    pub(crate) fn handle_probe(
        &mut self,
        message: &Message,
        (flow, is_peer): (Flow, bool),
        device: u32,
        now: u64,
    ) -> Option<Answer> {
        let Body::Probe { lease_ms, dialect, reply_port, .. } = message.body else { return None };
        let body = match self.judge(dialect, is_peer).and_then(|()| self.make_room(&flow, device, now)) {
            Err(refusal) => Body::Refuse(refusal),
            Ok(()) => {
                let lease_ms = lease_ms.min(self.max_lease_ms);
                let (nonce, arrived) = (message.nonce, Arrived::default());
                self.pending.insert(flow, Pending { nonce, lease_ms, reply_port, device, at: now, arrived });
                Body::Seen(Stamp::default())
            }
        };
        let to = SocketAddr::new(flow.source, reply_port);
        Some(Answer { to, device, message: Message { node_id: self.node_id, body, ..*message } })
    }

    /// So many packets with INT of a flow that is waited for have arrived before its probe.
    pub(crate) fn set_arrived(&mut self, flow: &Flow, arrived: Arrived) {
        if let Some(pending) = self.pending.get_mut(flow) {
            pending.arrived = arrived;
        }
    }

    /// The flows that are waited for.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (Flow, u32)> {
        self.pending.iter().map(|(flow, pending)| (*flow, pending.device))
    }

    /// A packet of `flow` has come in: the lease, and whether its source has had none for any flow.
    pub(crate) fn grant(&mut self, flow: &Flow, now: u64) -> Option<(Answer, bool)> {
        let Pending { nonce, lease_ms, reply_port, device, at, arrived } = self.pending.remove(flow)?;
        if self.is_ending {
            return None;
        }
        let to = SocketAddr::new(flow.source, reply_port);
        let until = at + u64::from(lease_ms) * 1_000_000;
        let Flow { source, destination, .. } = *flow;
        let body = Body::Grant { lease_ms, arrived };
        let message = Message { nonce, node_id: self.node_id, source, destination, body };
        // A trial of the path: nobody is going to send INT, and nobody has to be told that the lease ends.
        if lease_ms == 0 {
            return Some((Answer { to, device, message }, false));
        }
        let until = self
            .granted
            .get(&Grantee { source, destination, device })
            .map_or(until, |granted| granted.until.max(until));
        self.granted.insert(Grantee { source, destination, device }, Granted { reply: to, nonce, until });
        let keep = now.max(until) + KEEP_NS;
        let is_new = self.senders.insert(source, keep).is_none();
        Some((Answer { to, device, message }, is_new))
    }

    /// Forgets what is over; returns addresses whose INT is left alone from here on.
    pub(crate) fn forget_old(&mut self, now: u64) -> Vec<IpAddr> {
        self.granted.retain(|_, granted| granted.until > now);
        self.pending.retain(|_, pending| now.saturating_sub(pending.at) < WAIT_NS);
        self.senders.extract_if(|_, keep| *keep <= now).map(|(address, _)| address).collect()
    }

    /// Ends all leases that came in by `device`, or without one by any: whom to tell, until he acknowledges it.
    pub(crate) fn withdraw(&mut self, device: Option<u32>, now: u64) -> Vec<Answer> {
        self.is_ending |= device.is_none();
        self.granted.retain(|_, granted| granted.until > now);
        self.pending.retain(|_, pending| device.is_some_and(|device| device != pending.device));
        let meant = self.granted.iter().filter(|(grantee, _)| device.is_none_or(|of| of == grantee.device));
        meant
            .map(|(grantee, granted)| {
                let Grantee { source, destination, device } = *grantee;
                let (nonce, node_id, body) = (granted.nonce, self.node_id, Body::Withdraw);
                Answer {
                    to: granted.reply,
                    device,
                    message: Message { nonce, node_id, source, destination, body },
                }
            })
            .collect()
    }

    /// How many pairs of addresses have a lease.
    pub(crate) fn granted(&self, now: u64) -> usize {
        self.granted.values().filter(|granted| granted.until > now).count()
    }

    fn judge(&self, dialect: u64, is_peer: bool) -> Result<(), Refusal> {
        match () {
            () if !is_peer => Err(Refusal::Stranger),
            () if self.is_ending => Err(Refusal::Ending),
            () if dialect != self.dialect => Err(Refusal::Dialect),
            () => Ok(()),
        }
    }

    fn make_room(&mut self, flow: &Flow, device: u32, now: u64) -> Result<(), Refusal> {
        let grantee = Grantee { source: flow.source, destination: flow.destination, device };
        if self.pending.len() >= MAX_PENDING {
            self.pending.retain(|_, pending| now.saturating_sub(pending.at) < WAIT_NS);
        }
        if self.granted.len() >= MAX_GRANTED {
            self.granted.retain(|_, granted| granted.until > now);
        }
        let is_full = (self.granted.len() >= MAX_GRANTED && !self.granted.contains_key(&grantee))
            || (self.senders.len() >= MAX_GRANTED && !self.senders.contains_key(&flow.source))
            || (self.pending.len() >= MAX_PENDING && !self.pending.contains_key(flow));
        if is_full { Err(Refusal::Full) } else { Ok(()) }
    }
}
