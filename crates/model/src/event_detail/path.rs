//! What is there to tell of the ways that packets take?

use serde::{Deserialize, Serialize};

use crate::{Flow, NodeId, Path};

/// A flow is seen for the first time, or again after a long silence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewFlow {
    /// The flow.
    pub flow: Flow,
    /// Its path; `None` as long as nothing tells.
    pub path: Option<Path>,
    /// New flows since the one announced before, which were too many to announce each.
    pub unannounced: u64,
}

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

/// What kind of change of path it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathChangeKind {
    /// A link of the old path carries no reported flow any more.
    Reroute,
    /// The links of the old path still carry other flows, or not enough time has passed to tell.
    EcmpMove,
    /// The flow changed its path several times in a short while.
    Flap,
}

/// A packet came to the same node twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// The flow of the packet.
    pub flow: Flow,
    /// The node it came to twice.
    pub node_id: NodeId,
    /// The interface it entered by each time; `None` when it entered by different ones.
    pub ingress_interface: Option<u16>,
    /// The hops of the packet; of a single node's reports only its own.
    pub path: Path,
    /// What else speaks for a loop.
    #[serde(default)]
    pub support: Vec<LoopSupport>,
}

/// What else speaks for a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopSupport {
    /// E: the number of hops the source allowed was used up.
    MaxHopsExceeded,
    /// A node dropped a packet of the flow because its TTL was zero.
    TtlZeroDrop,
    /// The same packet came to the node again with a smaller TTL.
    SmallerTtl,
}

/// A path breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathPolicy {
    /// Name of the rule.
    pub rule: String,
    /// The flow.
    pub flow: Flow,
    /// Its path.
    pub path: Path,
    /// What is wrong with it.
    pub violation: Violation,
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
    /// The way back does not pass the same nodes.
    Asymmetric,
}

/// Links that should carry the same carry different loads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EcmpImbalance {
    /// The node that spreads the flows.
    pub node_id: NodeId,
    /// What each of its links carries.
    pub links: Vec<LinkRate>,
    /// Thousandths: the highest rate over the mean.
    pub highest_to_mean_permille: u64,
    /// Thousandths: Jain's index, 1000 where all links carry the same.
    pub jain_permille: u64,
    /// Whether the rates are the utilisation that the node gives; otherwise they are bytes of reported packets, a
    /// sample that nodes with smart filters choose.
    pub by_utilization: bool,
}

/// What one link carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRate {
    /// The interface packets leave by.
    pub egress_interface: u16,
    /// Utilisation in the node's unit, or bytes of reported packets a second.
    pub rate: u64,
}
