//! How the other side took what it was sent.

use std::time::Duration;

/// How the other side took an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// It has it.
    Taken,
    /// It has it but for so many messages at most, for this reason; it will not want those later.
    TakenInPart {
        /// Messages of which it does not have everything, at most.
        rejected: u64,
        /// What it says of them.
        why: String,
    },
    /// It does not want it, for this reason, and will not want it later.
    Refused(String),
    /// It is away or overloaded, for this reason; it may say when to come again.
    Away {
        /// What is seen of it.
        why: String,
        /// When it asks to be tried again.
        again: Option<Duration>,
    },
}
