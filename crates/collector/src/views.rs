//! What can be asked of the collector?

use std::fmt::Display;
use std::net::IpAddr;

use inband_model::{Flow, FlowId, Nanos, NodeId, Origin, Path, PathId};
use serde::{Serialize, Serializer};

use crate::sketch::LatencySummary;

/// A node as users see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeView {
    /// The node.
    pub node_id: NodeId,
    /// Where its reports come from, the latest addresses first; empty for a node that reports nothing itself.
    pub addresses: Vec<IpAddr>,
    /// Individual reports it sent.
    pub reports: u64,
    /// Datagrams it sent that did not arrive.
    pub lost: u64,
    /// Times at which an unknown number of them did not.
    pub lost_unknown: u64,
    /// When the first report by it or on it arrived.
    pub first_seen: Nanos,
    /// When the latest one did.
    pub last_seen: Nanos,
    /// Its egress interfaces that were seen, by rising number; without those it does not name.
    pub egress_interfaces: Vec<u16>,
    /// Hop latency over all of them.
    pub latency: Option<LatencySummary>,
}

/// A link as users see it, in the direction packets take.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LinkView {
    /// The node packets leave.
    pub from: NodeId,
    /// The interface they leave it by; `None` where the node does not tell.
    pub egress_interface: Option<u16>,
    /// The node they come to.
    pub to: NodeId,
    /// The interface they come in by.
    pub ingress_interface: Option<u16>,
    /// Whether it is certain that no other node stands between the two.
    pub certain: bool,
    /// When the first path over it was told.
    pub first_seen: Nanos,
    /// When a report last told a path over it, to an eighth of an epoch.
    pub last_seen: Nanos,
    /// How long packets take, by the clocks at both ends; `None` where reports give no 64-bit timestamps.
    pub latency: Option<LatencySummary>,
    /// By how much `latency` may be wrong, as the clocks at both ends differ; `None`: by any amount.
    pub clock_uncertainty: Option<Nanos>,
}

/// The nodes, and the links between them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TopologyView {
    /// By rising node id.
    pub nodes: Vec<NodeView>,
    /// By rising ids of the nodes they begin and end at.
    pub links: Vec<LinkView>,
}

/// A flow as users see it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FlowView<'a> {
    /// Names the flow; written as a text, for the sake of readers whose numbers have 53 bits.
    #[serde(serialize_with = "as_text")]
    pub id: FlowId,
    /// The flow.
    pub flow: Flow,
    /// Its latest path; `None` as long as nothing tells.
    pub path: Option<&'a Path>,
    /// The latest latency of each hop of `path`; `None` where the node did not say.
    pub hop_latency: &'a [Option<Nanos>],
    /// Hops `path` should have; `None` when nothing tells.
    pub hops_expected: Option<u8>,
    /// Whether all hops of the path were seen, as far as is known.
    pub complete: bool,
    /// Where the path comes from.
    pub origin: Origin,
    /// When `path` was first seen.
    pub path_since: Nanos,
    /// When the path was last confirmed.
    pub path_seen_at: Nanos,
    /// When the first report on the flow arrived.
    pub first_seen: Nanos,
    /// When the last one did.
    pub last_seen: Nanos,
    /// Individual reports on it.
    pub reports: u64,
}

/// One path of a flow, and when the flow took it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FlowPathView<'a> {
    /// Names the path; written as in history.
    #[serde(serialize_with = "as_text")]
    pub id: PathId,
    /// The path.
    pub path: &'a Path,
    /// When it was first seen.
    pub since: Nanos,
    /// When it was last confirmed.
    pub until: Nanos,
    /// Whether it is the latest.
    pub current: bool,
}

/// How long packets stay in one node on their way to one of its egress interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PortView {
    /// The node.
    pub node_id: NodeId,
    /// The egress interface; `None` where the node does not tell.
    pub egress_interface: Option<u16>,
    /// The hop latency; `None` where no report tells.
    pub latency: Option<LatencySummary>,
    /// Utilisation of the interface, in the node's unit; `None` where no report tells.
    pub utilization: Option<LevelView>,
    /// When a report last told of a packet that left by it.
    pub last_seen: Nanos,
}

/// How high a level stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LevelView {
    /// The latest value.
    pub last: u32,
    /// The highest so far.
    pub max: u32,
    /// When `last` was reported.
    pub last_at: Nanos,
}

/// How deep one queue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct QueueView {
    /// The node.
    pub node_id: NodeId,
    /// The egress interface; `None` where the node does not tell.
    pub egress_interface: Option<u16>,
    /// The queue of that interface.
    pub queue_id: u8,
    /// The latest occupancy, in the node's unit.
    pub last: u32,
    /// The highest occupancy of the last second or two.
    pub recent: u32,
    /// The highest occupancy so far.
    pub max: u32,
    /// When `last` was reported.
    pub last_at: Nanos,
    /// Whether the queue is congested.
    pub congested: bool,
}

impl FlowView<'_> {
    /// Whether all hops of the path were seen, as far as is known.
    #[must_use]
    pub fn path_is_complete(&self) -> bool {
        self.complete
    }
}

fn as_text<S: Serializer>(id: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}
