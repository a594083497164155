//! Which destinations does a source ask, and when again?

use std::collections::HashMap;
use std::net::IpAddr;

use super::message::{Body, Message, Refusal};

/// A source's leases. Times are of the monotonic clock, nanoseconds.
#[derive(Debug)]
pub(crate) struct Asker {
    node_id: u32,
    dialect: u64,
    lease_ms: u32,
    asked: HashMap<IpAddr, Asked>,
    /// The address that a nonce went to.
    nonces: HashMap<u64, IpAddr>,
}

/// What is known of one destination.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    nonce: u64,
    at: u64,
    /// Until when it takes INT out; 0: it has not said so.
    until: u64,
    /// The nonce with which it said so.
    granted: u64,
    /// When there was traffic to it, as far as is known.
    used: u64,
}

/// What a message changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The destination takes INT out until then.
    Lease { address: IpAddr, until: u64 },
    /// It has ended that, and wants to hear that no more is sent.
    Withdrawn { address: IpAddr, nonce: u64 },
    /// It does not want INT.
    Refused { address: IpAddr, refusal: Refusal },
}

/// Most destinations that are asked at a time.
pub(super) const MOST_ASKED: usize = 4096;
/// How long a destination that says nothing, or no, is not asked again.
pub(super) const PAUSE_NS: u64 = 1_000_000_000;
/// How long a lease without traffic is renewed.
pub(super) const IDLE_NS: u64 = 60_000_000_000;
/// No lease is longer, whatever a destination says.
const MOST_LEASE_MS: u32 = 60_000;

impl Asker {
    pub(crate) fn new(node_id: u32, dialect: u64, lease_ms: u32) -> Self {
        Self { node_id, dialect, lease_ms, asked: HashMap::new(), nonces: HashMap::new() }
    }

    /// There is traffic to `address`, which has no lease: the ask to send, if it is time for one.
    pub(crate) fn handle_unleased(&mut self, address: IpAddr, now: u64, nonce: u64) -> Option<Message> {
        if self.asked.len() >= MOST_ASKED && !self.asked.contains_key(&address) {
            return None;
        }
        self.asked.entry(address).or_default().used = now;
        self.ask(address, now, nonce)
    }

    /// There was traffic to `address`, which has a lease, at `used`.
    pub(crate) fn handle_use(&mut self, address: IpAddr, used: u64) {
        if let Some(asked) = self.asked.get_mut(&address) {
            asked.used = asked.used.max(used);
        }
    }

    /// Whom to ask again so that leases do not end: destinations whose lease is past a third.
    pub(crate) fn due(&self, now: u64) -> Vec<IpAddr> {
        let third = u64::from(self.lease_ms) * 1_000_000 / 3;
        let is_due = |asked: &Asked| asked.until > 0 && now.saturating_sub(asked.at) >= third;
        let is_used = |asked: &Asked| now.saturating_sub(asked.used) < IDLE_NS;
        let due = self.asked.iter().filter(|(_, asked)| is_due(asked) && is_used(asked));
        due.map(|(address, _)| *address).collect()
    }

    /// The addresses with a lease.
    pub(crate) fn leased(&self) -> impl Iterator<Item = IpAddr> {
        self.asked.iter().filter(|(_, asked)| asked.until > 0).map(|(address, _)| *address)
    }

    /// Forgets whose lease and whose question is over; returns those whose lease is.
    pub(crate) fn forget_old(&mut self, now: u64) -> Vec<IpAddr> {
        let is_old = |asked: &Asked| asked.until <= now && now.saturating_sub(asked.at) > 2 * PAUSE_NS;
        self.forget(|_, asked| is_old(asked))
    }

    /// Forgets all but those that `is_asked` names; returns those that had a lease.
    pub(crate) fn forget_unless(&mut self, is_asked: impl Fn(IpAddr) -> bool) -> Vec<IpAddr> {
        self.forget(|address, _| !is_asked(address))
    }

    fn forget(&mut self, is_meant: impl Fn(IpAddr, &Asked) -> bool) -> Vec<IpAddr> {
        let mut ended = Vec::new();
        self.asked.retain(|address, asked| {
            if !is_meant(*address, asked) {
                return true;
            }
            self.nonces.remove(&asked.nonce);
            self.nonces.remove(&asked.granted);
            ended.extend((asked.until > 0).then_some(*address));
            false
        });
        ended
    }

    /// Asks `address` for a lease, new or again, unless it was asked just now.
    pub(crate) fn ask(&mut self, address: IpAddr, now: u64, nonce: u64) -> Option<Message> {
        let asked = self.asked.get_mut(&address)?;
        let pause = if asked.until > now { u64::from(self.lease_ms) * 1_000_000 / 6 } else { PAUSE_NS };
        if asked.at > 0 && now.saturating_sub(asked.at) < pause {
            return None;
        }
        if asked.nonce != asked.granted {
            self.nonces.remove(&asked.nonce);
        }
        (asked.nonce, asked.at) = (nonce, now);
        self.nonces.insert(nonce, address);
        let body = Body::Ask { lease_ms: self.lease_ms, dialect: self.dialect };
        Some(Message { nonce, node_id: self.node_id, body })
    }

    /// What a message changes. Only who was asked knows the nonce, so where it comes from does not matter.
    pub(crate) fn handle(&mut self, message: &Message, now: u64) -> Option<Change> {
        let address = *self.nonces.get(&message.nonce)?;
        let asked = self.asked.get_mut(&address)?;
        match message.body {
            Body::Grant { lease_ms } if asked.nonce == message.nonce => {
                // From when it was asked: the sink counts from later on.
                let until = asked.at + u64::from(lease_ms.min(MOST_LEASE_MS)) * 1_000_000;
                if until <= now {
                    return None;
                }
                if asked.granted != asked.nonce {
                    self.nonces.remove(&asked.granted);
                }
                (asked.until, asked.granted) = (until, asked.nonce);
                Some(Change::Lease { address, until })
            }
            Body::Refuse(refusal) if asked.nonce == message.nonce => {
                asked.until = 0;
                Some(Change::Refused { address, refusal })
            }
            Body::Withdraw => {
                asked.until = 0;
                Some(Change::Withdrawn { address, nonce: message.nonce })
            }
            _ => None,
        }
    }
}
