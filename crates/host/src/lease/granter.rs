//! The sink side of leases: who holds one, and who must be notified of its end.

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
    /// By holder, address and device.
    granted: HashMap<Grantee, Granted>,
    /// By source address: when its INT stops being removed.
    senders: HashMap<IpAddr, u64>,
    /// Flows whose probe has arrived, but no packet since.
    pending: HashMap<Flow, Pending>,
    is_ending: bool,
}

/// Addresses rather than flows: there are as many as hosts.
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

/// A message to send, and the device to send it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) to: SocketAddr,
    pub(crate) device: u32,
    pub(crate) message: Message,
}

/// Maximum number of leases, and of addresses; the kernel's table is as large.
pub(super) const MAX_GRANTED: usize = 4096;
/// Maximum number of flows that wait for a packet.
pub(super) const MAX_PENDING: usize = 4096;
/// How long they wait.
pub(super) const WAIT_NS: u64 = 5_000_000_000;
/// How long INT of an address is still removed after its leases have ended.
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

    /// Takes over `address`, whose INT an earlier agent removed; false if there is no room for it.
    pub(crate) fn take_over(&mut self, address: IpAddr, now: u64) -> bool {
        let has_room = self.has_room_for(address);
        if has_room {
            self.senders.insert(address, now + KEEP_NS);
        }
        has_room
    }

    /// Takes the leases of `source` back that were not announced: its INT would not be removed.
    pub(crate) fn take_back(&mut self, source: IpAddr) {
        self.senders.remove(&source);
        self.granted.retain(|grantee, _| grantee.source != source);
    }

    /// The longest lease that is granted, milliseconds.
    pub(crate) const fn max_lease_ms(&self) -> u32 {
        self.max_lease_ms
    }

    /// The addresses whose INT is removed.
    pub(crate) fn senders(&self) -> impl Iterator<Item = IpAddr> {
        self.senders.keys().copied()
    }

    fn has_room_for(&self, source: IpAddr) -> bool {
        self.senders.len() < MAX_GRANTED || self.senders.contains_key(&source)
    }

    /// Answers a datagram of a peer or another sender that came in by `device`.
    pub(crate) fn handle(&mut self, message: &Message, is_peer: bool, device: u32) -> Option<Message> {
        let Message { nonce, source, destination, body, .. } = *message;
        let body = match body {
            Body::Ask { dialect } => match self.judge(dialect, is_peer) {
                Err(refusal) => Body::Refuse(refusal),
                Ok(()) => Body::Agree,
            },
            Body::Withdrawn => {
                let grantee = Grantee { source, destination, device };
                // The agent of a container's host acknowledges for the container.
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

    /// Handles a probe of `flow` that came in by `device`, without its INT; returns the first answer. Unless
    /// that is a refusal, the flow is awaited.
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

    /// Records how many packets with INT of an awaited flow arrived before its probe.
    pub(crate) fn set_arrived(&mut self, flow: &Flow, arrived: Arrived) {
        if let Some(pending) = self.pending.get_mut(flow) {
            pending.arrived = arrived;
        }
    }

    /// The flows that are awaited.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (Flow, u32)> {
        self.pending.iter().map(|(flow, pending)| (*flow, pending.device))
    }

    /// Handles a packet of an awaited `flow`; returns the lease, and whether its source had none before; a
    /// refusal where others have taken the last place meanwhile.
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
        // A trial of the path: no INT will be sent, and the end of the lease needs no notice.
        if lease_ms == 0 {
            return Some((Answer { to, device, message }, false));
        }
        let grantee = Grantee { source, destination, device };
        let known = self.granted.get(&grantee);
        if (known.is_none() && self.granted.len() >= MAX_GRANTED) || !self.has_room_for(source) {
            let message = Message { body: Body::Refuse(Refusal::Full), ..message };
            return Some((Answer { to, device, message }, false));
        }
        let until = known.map_or(until, |granted| granted.until.max(until));
        self.granted.insert(grantee, Granted { reply: to, nonce, until });
        let keep = now.max(until) + KEEP_NS;
        let is_new = self.senders.insert(source, keep).is_none();
        Some((Answer { to, device, message }, is_new))
    }

    /// Removes what has expired; returns addresses whose INT is left alone from here on.
    pub(crate) fn forget_old(&mut self, now: u64) -> Vec<IpAddr> {
        self.granted.retain(|_, granted| granted.until > now);
        self.pending.retain(|_, pending| now.saturating_sub(pending.at) < WAIT_NS);
        self.senders.extract_if(|_, keep| *keep <= now).map(|(address, _)| address).collect()
    }

    /// Ends all leases granted by `device`, or by any for `None`; returns the notices to send until they are
    /// acknowledged.
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

    /// The number of pairs of addresses with a lease.
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
            || !self.has_room_for(flow.source)
            || (self.pending.len() >= MAX_PENDING && !self.pending.contains_key(flow));
        if is_full { Err(Refusal::Full) } else { Ok(()) }
    }
}
