//! Flows whose report is due: an interval has passed, or their way or latency has changed.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

use inband_wire::FiveTuple;

use super::digests::Digests;
use super::latency::Sensitivity;
use super::observation::Observation;
use super::table::Table;

/// Lets one report per interval and key pass, and every one about a packet that differs from the one before it.
///
/// The packet before is the key's latest, reported or not. A report that should go is never held back longer than
/// the interval: what is remembered of a key counts only as long.
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
    // sd-fabric-1.0/flow-01, sd-fabric-1.0/flow-02, sd-fabric-1.0/flow-03, sd-fabric-1.0/drop-02
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

    /// Remembers a packet of `key` that is reported at `now` whatever this filter says.
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

    /// Remembers the report of a key that the table does not hold.
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
