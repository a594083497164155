//! What only `history-trouble` has.

use serde::{Deserialize, Serialize};

/// History is not being written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryTrouble {
    /// What keeps it from being written, in words.
    pub why: String,
}
