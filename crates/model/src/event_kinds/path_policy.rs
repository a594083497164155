//! The detail of a `path-policy` event.

use serde::{Deserialize, Serialize};

use crate::{Flow, NodeId, Path};

/// A path breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathPolicy {
    /// Name of the rule.
    pub rule: String,
    /// The flow.
    pub flow: Flow,
    /// Its path.
    pub path: Path,
    /// The violation.
    pub violation: Violation,
}

impl PathPolicy {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        [self.path.nodes(), self.violation.nodes()].concat()
    }
}

/// How a path breaks a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Violation {
    /// It does not pass a node it must pass.
    MissesNode(NodeId),
    /// It passes a node it must not pass.
    PassesNode(NodeId),
    /// It does not take a link it must take, from the first node to the second.
    MissesLink(NodeId, NodeId),
    /// It takes a link it must not take.
    TakesLink(NodeId, NodeId),
    /// It has more hops than the rule allows.
    TooManyHops(u8),
    /// The path back does not pass the same nodes.
    Asymmetric,
}

impl Violation {
    /// The nodes that it names.
    fn nodes(self) -> Vec<NodeId> {
        match self {
            Self::MissesNode(node) | Self::PassesNode(node) => vec![node],
            Self::MissesLink(from, to) | Self::TakesLink(from, to) => vec![from, to],
            Self::TooManyHops(_) | Self::Asymmetric => Vec::new(),
        }
    }
}
