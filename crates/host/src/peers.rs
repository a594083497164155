//! The table of peers: which hosts are probed, and whose INT is removed.
//!
//! A peer that sends INT without a lease does so until its own settings change. INT of such a peer is therefore
//! removed for an hour after this host's settings have stopped naming it: a fleet changes host by host.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::rules::MappedPrefix;
use crate::settings::{MAX_PEERS, PeerSettings};

/// What holds for the hosts behind a prefix (`enum peer_flag`).
pub(crate) type Flags = u32;

/// They may be probed, and may probe.
pub(crate) const IS_PEER: Flags = 1;
/// They are sent INT without a lease.
pub(crate) const SENT_ALWAYS: Flags = 2;
/// INT is removed from their packets without a lease.
pub(crate) const ENDED_ALWAYS: Flags = 4;

/// The prefixes of the settings, and those whose INT is still removed.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    current: Vec<PeerSettings>,
    /// Each with the time until which INT is removed, nanoseconds of the monotonic clock.
    former: HashMap<MappedPrefix, u64>,
}

/// How long INT of former peers is removed, nanoseconds.
pub(crate) const FORMER_NS: u64 = 3_600_000_000_000;

impl Peers {
    /// The peers of the settings.
    pub(crate) fn current(&self) -> &[PeerSettings] {
        &self.current
    }

    /// Whether there are former peers.
    pub(crate) fn has_former(&self) -> bool {
        !self.former.is_empty()
    }

    /// Replaces the peers of the settings at `now`.
    pub(crate) fn set(&mut self, peers: &[PeerSettings], now: u64) {
        let old = std::mem::replace(&mut self.current, peers.to_vec());
        for peer in old.iter().filter(|peer| !peer.lease) {
            self.note_former(MappedPrefix::of(peer.prefix), now);
        }
        for peer in self.current.iter().filter(|peer| !peer.lease) {
            self.former.remove(&MappedPrefix::of(peer.prefix));
        }
    }

    /// Records prefixes whose INT an earlier agent removed without a lease.
    pub(crate) fn take_over(&mut self, prefixes: &[MappedPrefix], now: u64) {
        let permanent = self.current.iter().filter(|peer| !peer.lease);
        let permanent: HashSet<_> = permanent.map(|peer| MappedPrefix::of(peer.prefix).key()).collect();
        for prefix in prefixes.iter().filter(|prefix| !permanent.contains(&prefix.key())) {
            self.note_former(*prefix, now);
        }
    }

    fn note_former(&mut self, prefix: MappedPrefix, now: u64) {
        if self.former.len() < MAX_PEERS || self.former.contains_key(&prefix) {
            self.former.insert(prefix, now + FORMER_NS);
        }
    }

    /// Forgets the former peers whose hour is over; returns whether there were any.
    pub(crate) fn forget_old(&mut self, now: u64) -> bool {
        let before = self.former.len();
        self.former.retain(|_, until| now < *until);
        self.former.len() < before
    }

    /// The flags of every prefix. The programs find the longest prefix of an address, so each prefix also has
    /// the flags of those around it.
    pub(crate) fn table(&self) -> BTreeMap<MappedPrefix, Flags> {
        let own =
            |peer: &PeerSettings| if peer.lease { IS_PEER } else { IS_PEER | SENT_ALWAYS | ENDED_ALWAYS };
        let current: HashMap<(u128, u32), Flags> =
            self.current.iter().map(|peer| (MappedPrefix::of(peer.prefix).key(), own(peer))).collect();
        let former: HashSet<(u128, u32)> = self.former.keys().map(MappedPrefix::key).collect();
        let prefixes = self.current.iter().map(|peer| MappedPrefix::of(peer.prefix));
        let flags = |prefix: MappedPrefix| {
            let around = || (0..=prefix.length).rev().map(|length| prefix.shortened(length));
            let nearest = around().find_map(|prefix| current.get(&prefix).copied()).unwrap_or_default();
            let was_ended = !former.is_empty() && around().any(|prefix| former.contains(&prefix));
            (prefix, if was_ended { nearest | ENDED_ALWAYS } else { nearest })
        };
        prefixes.chain(self.former.keys().copied()).map(flags).collect()
    }
}

#[cfg(test)]
mod tests;
