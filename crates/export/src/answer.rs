//! The other side's answer to a delivery attempt.

use std::time::Duration;

/// The other side's answer to an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// Everything was accepted.
    Taken,
    /// Everything was accepted but for at most `rejected` messages, which are not to be sent again.
    TakenInPart {
        /// Messages that were not accepted completely, at most.
        rejected: u64,
        /// The reason it reports.
        why: String,
    },
    /// Permanently refused, for this reason.
    Refused(String),
    /// Unreachable or overloaded.
    Away {
        /// What failed.
        why: String,
        /// How long it asks to wait before the next attempt.
        again: Option<Duration>,
    },
}
