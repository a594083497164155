//! The detail of a `history-trouble` event.

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// History is not being written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryTrouble {
    /// Why it is not being written, in words.
    pub why: String,
}

impl HistoryTrouble {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        Vec::new()
    }
}
