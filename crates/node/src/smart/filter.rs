//! Is it time to report this flow again, or has it changed?

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

use inband_wire::FiveTuple;

use super::digests::Digests;
use super::observation::Observation;
use super::table::Table;

/// Lets one report per interval and key pass, and every one that differs from the one before.
///
/// A report that should go is never held back longer than the interval: what is remembered of a key counts
/// only as long.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    table: Table,
    digests: Digests,
    interval_ns: u64,
}

/// What is reported once per interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) flow: FiveTuple,
    /// Why packets of the flow are dropped; `None` for those that go on.
    pub(super) reason: Option<u8>,
}

impl Key {
    /// Mixes the key into 64 bits, written at once: SipHash takes short pieces slowly.
    fn hash(&self) -> u64 {
        let FiveTuple { source, destination, protocol, source_port, destination_port } = self.flow;
        let mut bytes = [0; MOST_KEY_BYTES];
        let mut at = 0;
        let mut put = |piece: &[u8]| {
            if let Some(to) = bytes.get_mut(at..at + piece.len()) {
                to.copy_from_slice(piece);
            }
            at += piece.len();
        };
        for address in [source, destination] {
            match address {
                IpAddr::V4(address) => put(&address.octets()),
                IpAddr::V6(address) => put(&address.octets()),
            }
        }
        put(&source_port.to_be_bytes());
        put(&destination_port.to_be_bytes());
        let [reason, has_reason] = self.reason.map_or([0, 0], |reason| [reason, 1]);
        put(&[protocol, reason, has_reason]);
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes.get(..at).unwrap_or_default());
        hasher.finish()
    }
}

/// Two IPv6 addresses, ports, protocol, reason and whether there is one.
const MOST_KEY_BYTES: usize = 2 * 16 + 4 + 3;

/// When a report went out, nanoseconds of the device's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reported(pub(super) u64);

impl Reported {
    /// Whether the interval since then has passed.
    ///
    /// A clock that goes back by less than an interval starts the interval again; one that goes back further
    /// has been set, and nothing is known of the time since.
    pub(super) fn is_over(&mut self, now: u64, interval_ns: u64) -> bool {
        match now.checked_sub(self.0) {
            Some(passed) => passed >= interval_ns,
            None if self.0 - now > interval_ns => true,
            None => {
                self.0 = now;
                false
            }
        }
    }
}

impl Filter {
    /// Creates a filter that remembers `keys` keys exactly.
    pub(super) fn new(keys: u32, interval_ns: u64) -> Self {
        Self { table: Table::new(keys), digests: Digests::new(), interval_ns }
    }

    pub(super) fn set_interval(&mut self, interval_ns: u64) {
        self.interval_ns = interval_ns;
    }

    /// Whether a report about `key` goes out at `now`.
    pub(super) fn passes(&mut self, key: Key, seen: Observation, now: u64) -> bool {
        let hash = key.hash();
        if let Some(entry) = self.table.find(hash, &key) {
            let passes = entry.seen != seen || entry.reported.is_over(now, self.interval_ns);
            if passes {
                entry.seen = seen;
                entry.reported = Reported(now);
            }
            return passes;
        }
        let digest = hash_of(&(hash, seen));
        if self.digests.contains(hash, digest, now, self.interval_ns) {
            return false;
        }
        if !self.table.insert(hash, key, seen, now, self.interval_ns) {
            self.digests.insert(hash, digest, now);
        }
        true
    }
}

/// Mixes `value` into 64 bits.
fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
