//! The detail of a `new-flow` event.

use serde::{Deserialize, Serialize};

use crate::{Flow, NodeId, Path};

/// A flow is seen for the first time, or again after a long silence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewFlow {
    /// The flow.
    pub flow: Flow,
    /// Its path; `None` while it is unknown.
    pub path: Option<Path>,
    /// New flows since the previous announcement that were too many to announce each.
    pub unannounced: u64,
}

impl NewFlow {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        self.path.as_ref().map(Path::nodes).unwrap_or_default()
    }
}
