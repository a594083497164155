//! Is it time to report this flow again, or has it changed?

use std::hash::{DefaultHasher, Hash, Hasher};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) flow: FiveTuple,
    /// Why packets of the flow are dropped; `None` for those that go on.
    pub(super) reason: Option<u8>,
}

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
        let hash = hash_of(&key);
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
