//! Notices to users about other hosts, once each.

use std::collections::HashSet;
use std::net::IpAddr;

use inband_linux::clock::Clock;

use crate::clocks;

/// The notices given, and those pending.
pub(super) struct Notices {
    /// This host's node id and clock, to compare with those of other hosts.
    pub(super) node_id: u32,
    pub(super) clock: Clock,
    /// Addresses whose refusal was reported.
    refused: HashSet<IpAddr>,
    /// Addresses reported for having this host's node id or a clock that cannot be compared.
    told: HashSet<(IpAddr, &'static str)>,
    waiting: Vec<String>,
}

/// Maximum number of addresses in each of the two sets.
const MAX_TOLD: usize = 1000;

impl Notices {
    pub(super) fn new(node_id: u32, clock: Clock) -> Self {
        Self { node_id, clock, refused: HashSet::new(), told: HashSet::new(), waiting: Vec::new() }
    }

    /// Reports a host that claims this host's node id.
    pub(super) fn notice_id(&mut self, address: IpAddr, node_id: u32) {
        if node_id == self.node_id {
            self.tell_once((address, "node id"), || {
                format!(
                    "{address} has this host's node id, {node_id}: a collector takes the two for one node"
                )
            });
        }
    }

    /// Reports a host whose times cannot be compared with this one's.
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

    /// Reports that another program has the agents' port on a device.
    pub(super) fn notice_port(&mut self, device: &str, port: u16) {
        self.waiting.push(format!(
            "another program has UDP port {port}: no other host gets a lease for INT by {device} until it \
             is free"
        ));
    }

    /// The refusal by a host, the first time that it is noticed.
    pub(super) fn refusal(&mut self, address: IpAddr, reason: &str) -> Option<String> {
        let is_new = self.refused.len() < MAX_TOLD && self.refused.insert(address);
        is_new.then(|| format!("no INT to {address}: {reason}"))
    }

    /// Moves pending notices to the end of `notes`.
    pub(super) fn move_to(&mut self, notes: &mut Vec<String>) {
        notes.append(&mut self.waiting);
    }

    fn tell_once(&mut self, about: (IpAddr, &'static str), note: impl FnOnce() -> String) {
        if self.told.len() < MAX_TOLD && self.told.insert(about) {
            self.waiting.push(note());
        }
    }
}
