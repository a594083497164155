//! The detail of a `history-trouble` event.

use serde::{Deserialize, Serialize};

/// History is not being written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryTrouble {
    /// Why it is not being written, in words.
    pub why: String,
}
