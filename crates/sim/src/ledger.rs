//! The packet ledger: sent = delivered + dropped + in flight.

use std::collections::BTreeMap;
use std::fmt;

/// Packet counts since the start of the simulation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Packets hosts have sent.
    pub sent: u64,
    /// Packets that reached the host they were sent to, with or without a mismatch.
    pub delivered: u64,
    /// Dropped packets, by reason.
    pub dropped: BTreeMap<DropReason, u64>,
    /// Delivered packets that differ from what was sent, by difference.
    pub mismatched: BTreeMap<Mismatch, u64>,
    /// Reports discarded because earlier ones were not polled.
    pub reports_discarded: u64,
}

/// The reason a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The egress queue had no room for it.
    QueueFull,
    /// The link it was on, or was to be sent on, is out of service.
    LinkDown,
    /// No route leads to its destination.
    NoRoute,
    /// Its time to live was used up.
    TtlExpired,
    /// The INT node did not forward it.
    Node,
}

/// How a delivered packet differs from the one sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mismatch {
    /// It is addressed to another host.
    Address,
    /// Its time to live is not the sent one minus the hops passed.
    TimeToLive,
    /// The checksum of its IPv4 header is wrong.
    HeaderChecksum,
    /// The checksum of its TCP or UDP header is wrong.
    Checksum,
    /// Its length or other bytes are different.
    Content,
}

impl Ledger {
    /// Packets dropped for any reason.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.values().sum()
    }

    /// Packets delivered that were not what was sent.
    pub fn mismatched_total(&self) -> u64 {
        self.mismatched.values().sum()
    }

    pub(crate) fn count_drop(&mut self, reason: DropReason) {
        *self.dropped.entry(reason).or_default() += 1;
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DropReason::QueueFull => "queue-full",
            DropReason::LinkDown => "link-down",
            DropReason::NoRoute => "no-route",
            DropReason::TtlExpired => "ttl-expired",
            DropReason::Node => "node",
        })
    }
}
