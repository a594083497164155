//! Who has a lease of this sink, and who has to be told that it ends?

use std::collections::HashMap;
use std::net::SocketAddr;

use super::message::{Body, Message, Refusal};

/// A sink's leases. Times are of the monotonic clock, nanoseconds.
#[derive(Debug)]
pub(crate) struct Granter {
    node_id: u32,
    dialect: u64,
    most_lease_ms: u32,
    /// By who has it, and on which device he asked: the nonce, and when it is over.
    granted: HashMap<(SocketAddr, u32), (u64, u64)>,
    is_ending: bool,
}

/// Most sources with a lease.
pub(super) const MOST_GRANTED: usize = 4096;

impl Granter {
    pub(crate) fn new(node_id: u32, dialect: u64, most_lease_ms: u32) -> Self {
        Self { node_id, dialect, most_lease_ms, granted: HashMap::new(), is_ending: false }
    }

    /// Answers a message from `from`, which came in by `device`.
    pub(crate) fn handle(
        &mut self,
        message: &Message,
        from: SocketAddr,
        device: u32,
        now: u64,
    ) -> Option<Message> {
        let body = match message.body {
            Body::Ask { lease_ms, dialect } => match self.judge(dialect, (from, device), now) {
                Err(refusal) => Body::Refuse(refusal),
                Ok(()) => {
                    let lease_ms = lease_ms.min(self.most_lease_ms);
                    let until = now + u64::from(lease_ms) * 1_000_000;
                    self.granted.insert((from, device), (message.nonce, until));
                    Body::Grant { lease_ms }
                }
            },
            Body::Withdrawn => {
                if self.granted.get(&(from, device)).is_some_and(|(nonce, _)| *nonce == message.nonce) {
                    self.granted.remove(&(from, device));
                }
                return None;
            }
            _ => return None,
        };
        Some(Message { nonce: message.nonce, node_id: self.node_id, body })
    }

    /// Ends all leases that came in by `device`, or without one by any: whom to tell, until he acknowledges it.
    pub(crate) fn withdraw(&mut self, device: Option<u32>, now: u64) -> Vec<(SocketAddr, u32, Message)> {
        self.is_ending |= device.is_none();
        self.granted.retain(|_, (_, until)| *until > now);
        let is_meant = |of: u32| device.is_none_or(|device| device == of);
        let message = |nonce| Message { nonce, node_id: self.node_id, body: Body::Withdraw };
        let meant = self.granted.iter().filter(|((_, of), _)| is_meant(*of));
        meant.map(|((to, of), (nonce, _))| (*to, *of, message(*nonce))).collect()
    }

    /// How many have a lease.
    pub(crate) fn granted(&self, now: u64) -> usize {
        self.granted.values().filter(|(_, until)| *until > now).count()
    }

    fn judge(&mut self, dialect: u64, asker: (SocketAddr, u32), now: u64) -> Result<(), Refusal> {
        if self.is_ending {
            return Err(Refusal::Ending);
        }
        if dialect != self.dialect {
            return Err(Refusal::Dialect);
        }
        if self.granted.len() >= MOST_GRANTED {
            self.granted.retain(|_, (_, until)| *until > now);
        }
        match self.granted.len() >= MOST_GRANTED && !self.granted.contains_key(&asker) {
            true => Err(Refusal::Full),
            false => Ok(()),
        }
    }
}
