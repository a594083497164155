//! Events that are announced while the table of active ones is full.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashMap;
use inband_model::Nanos;

use crate::purge::Purge;

/// The events that there was no room for, so that each is announced once and not at every sign.
#[derive(Debug, Default)]
pub(super) struct Untracked {
    count: u64,
    /// The time of the last sign of at most [`MAX_REMEMBERED`] events, by hash of their subject.
    seen: HashMap<u64, Nanos>,
    purge: Purge,
}

impl Untracked {
    /// Signs of untracked events.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Whether a sign is to be announced: the first of its event, and the first after a quiet time. Events
    /// beyond those that can be remembered are not announced.
    pub(super) fn is_announced(&mut self, subject: &impl Hash, now: Nanos) -> bool {
        self.count += 1;
        let hash = self.seen.hasher().hash_one(subject);
        if let Some(seen_at) = self.seen.get_mut(&hash) {
            let was_quiet = now.since(*seen_at) >= QUIET;
            *seen_at = now;
            return was_quiet;
        }
        if self.seen.len() >= MAX_REMEMBERED && self.purge.begins(now) {
            self.seen.retain(|_, seen_at| now.since(*seen_at) < QUIET);
        }
        let has_room = self.seen.len() < MAX_REMEMBERED;
        if has_room {
            self.seen.insert(hash, now);
        }
        has_room
    }
}

/// Maximum number of untracked events that are remembered.
const MAX_REMEMBERED: usize = 4_096;
/// How long an untracked event must be quiet to be announced again.
const QUIET: Nanos = Nanos::from_secs(60);

#[cfg(test)]
mod tests {
    use inband_model::Nanos;

    use super::{MAX_REMEMBERED, QUIET, Untracked};

    #[test]
    fn an_event_is_announced_once_and_again_after_a_quiet_time() {
        let mut untracked = Untracked::default();
        let late = Nanos(5) + QUIET;
        let announced =
            [Nanos(1), Nanos(2), Nanos(5), late, late].map(|now| untracked.is_announced(&"a", now));
        assert_eq!(announced, [true, false, false, true, false]);
        assert_eq!(untracked.count(), 5);
    }

    #[test]
    fn a_full_table_announces_no_other_event_until_some_are_quiet() {
        let mut untracked = Untracked::default();
        let first = Nanos::from_secs(100);
        for event in 0..MAX_REMEMBERED {
            assert!(untracked.is_announced(&event, first));
        }
        assert!(!untracked.is_announced(&"other", first + Nanos::from_secs(1)));
        // The search for quiet events visits all of them, so it is made once a second.
        assert!(!untracked.is_announced(&"other", first + Nanos(59_500_000_000)));
        assert!(!untracked.is_announced(&"other", first + QUIET));
        assert!(untracked.is_announced(&"other", first + QUIET + Nanos::from_secs(1)));
        assert_eq!(untracked.seen.len(), 1);
    }
}
