//! The detail of a `new-flow` event.

use serde::{Deserialize, Serialize};

use crate::{Flow, Path};

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
