//! The detail of a `path-change` event.

use serde::{Deserialize, Serialize};

use crate::{Flow, NodeId, Path};

/// A flow takes another path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathChange {
    /// The flow.
    pub flow: Flow,
    /// What kind of change it is.
    pub change: PathChangeKind,
    /// The path up to the change.
    pub old: Path,
    /// The path from the change on.
    pub new: Path,
}

impl PathChange {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        [self.old.nodes(), self.new.nodes()].concat()
    }
}

/// What kind of change of path it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathChangeKind {
    /// A link of the old path no longer carries any reported flow.
    Reroute,
    /// The links of the old path still carry other flows, or it is too early to decide.
    EcmpMove,
    /// The flow changed its path several times in a short time.
    Flap,
}
