//! Removal of silent entries from full tables.

use inband_model::Nanos;

/// When a table was last searched for silent entries.
///
/// A search visits every entry, and in a full table each new entry would start one.
#[derive(Debug, Default)]
pub(crate) struct Purge {
    began_at: Nanos,
}

impl Purge {
    /// Whether a search may begin: at most once a second.
    pub(crate) fn begins(&mut self, now: Nanos) -> bool {
        let begins = now.since(self.began_at) >= MIN_INTERVAL;
        if begins {
            self.began_at = now;
        }
        begins
    }
}

const MIN_INTERVAL: Nanos = Nanos::from_secs(1);
