//! Flow filter: a report is due once per interval, and on a change of path or latency.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::digests::Digests;
use super::key::Key;
use super::latency::Sensitivity;
use super::observation::Observation;
use super::reported::Reported;
use super::table::Table;

/// Passes one report per interval and key, and every report whose packet differs from the previous one.
///
/// The previous packet is the key's latest, reported or not. A due report is never suppressed longer than the
/// interval: the state of a key expires with it.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    table: Table,
    digests: Digests,
    interval_ns: u64,
}

impl Filter {
    /// Creates a filter that stores `keys` keys exactly.
    pub(super) fn new(keys: u32, interval_ns: u64) -> Self {
        Self { table: Table::new(keys), digests: Digests::new(), interval_ns }
    }

    pub(super) fn set_interval(&mut self, interval_ns: u64) {
        self.interval_ns = interval_ns;
    }

    /// Whether a report about `key` is due at `now`.
    // sd-fabric-1.0/flow-01, sd-fabric-1.0/flow-02, sd-fabric-1.0/flow-03, sd-fabric-1.0/drop-02
    #[inline(always)]
    pub(super) fn passes(
        &mut self,
        key: Key,
        seen: Observation<'_>,
        now: u64,
        sensitivity: Sensitivity,
    ) -> bool {
        let hash = key.hash();
        if let Some(entry) = self.table.find(hash, &key) {
            let passes =
                entry.differs_from(&seen, sensitivity) || entry.reported.is_over(now, self.interval_ns);
            if passes {
                entry.reported = Reported(now);
            }
            entry.remember(&seen);
            return passes;
        }
        let digest = hash_of(&(hash, seen.way));
        if self.digests.hold_back(hash, digest, &seen, now, self.interval_ns, sensitivity) {
            return false;
        }
        self.insert(hash, key, digest, &seen, now);
        true
    }

    /// Stores a packet of `key` that is reported at `now` regardless of this filter.
    // sd-fabric-1.0/flow-01, sd-fabric-1.0/flow-03
    pub(super) fn remember(&mut self, key: Key, seen: Observation<'_>, now: u64) {
        let hash = key.hash();
        match self.table.find(hash, &key) {
            Some(entry) => {
                entry.remember(&seen);
                entry.reported = Reported(now);
            }
            None => self.insert(hash, key, hash_of(&(hash, seen.way)), &seen, now),
        }
    }

    /// Stores the report of a key that is not in the table.
    fn insert(&mut self, hash: u64, key: Key, digest: u64, seen: &Observation<'_>, now: u64) {
        if !self.table.insert(hash, key, seen, now, self.interval_ns) {
            self.digests.insert(hash, digest, seen, now);
        }
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
