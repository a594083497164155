//! What users are told of other hosts, once each.

use std::collections::HashSet;
use std::net::IpAddr;

use inband_linux::clock::Clock;

use crate::clocks;

/// What was told, and what waits to be.
pub(super) struct Notices {
    /// This host's node id and clock, which others are compared with.
    pub(super) node_id: u32,
    pub(super) clock: Clock,
    /// Addresses of which a refusal was told.
    refused: HashSet<IpAddr>,
    /// Addresses of other hosts with this one's node id, and with clocks that cannot be compared, of which was told.
    told: HashSet<(IpAddr, &'static str)>,
    waiting: Vec<String>,
}

/// Most addresses of which a refusal is told, and most of which something else is.
const MAX_TOLD: usize = 1000;

impl Notices {
    pub(super) fn new(node_id: u32, clock: Clock) -> Self {
        Self { node_id, clock, refused: HashSet::new(), told: HashSet::new(), waiting: Vec::new() }
    }

    /// Tells of a host that says it has this one's node id.
    pub(super) fn notice_id(&mut self, address: IpAddr, node_id: u32) {
        if node_id == self.node_id {
            self.tell_once((address, "node id"), || {
                format!(
                    "{address} has this host's node id, {node_id}: a collector takes the two for one node"
                )
            });
        }
    }

    /// Tells of a host whose times cannot be compared with this one's.
    pub(super) fn notice_clock(&mut self, address: IpAddr, kind: u8) {
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

    /// The refusal of a host, the first time that it is noticed.
    pub(super) fn refusal(&mut self, address: IpAddr, reason: &str) -> Option<String> {
        let is_new = self.refused.len() < MAX_TOLD && self.refused.insert(address);
        is_new.then(|| format!("no INT to {address}: {reason}"))
    }

    /// Moves what waits to the end of `notes`.
    pub(super) fn move_to(&mut self, notes: &mut Vec<String>) {
        notes.append(&mut self.waiting);
    }

    fn tell_once(&mut self, about: (IpAddr, &'static str), note: impl FnOnce() -> String) {
        if self.told.len() < MAX_TOLD && self.told.insert(about) {
            self.waiting.push(note());
        }
    }
}
