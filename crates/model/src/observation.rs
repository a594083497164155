//! Observations: what the collector concludes from reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Flow, Hop, Nanos, Path};

/// What the collector concludes from one report, or from the reports of several nodes on one flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Observation {
    /// A flow's path is known for the first time, or has changed.
    Path(PathObservation),
    /// How long a packet stayed in a node.
    HopLatency(HopLatencyObservation),
    /// How deep a queue was when a packet passed it.
    QueueDepth(QueueDepthObservation),
}

/// The origin of an observation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The metadata stack of an INT-MD packet.
    MdStack,
    /// The report of one node on an INT-MX packet.
    MxReport,
    /// The report of one node on a packet without INT (INT-XD).
    #[default]
    XdReport,
}

impl Origin {
    /// Its name, as shown to users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Origin::MdStack => "md-stack",
            Origin::MxReport => "mx-report",
            Origin::XdReport => "xd-report",
        }
    }
}

/// The path a flow takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathObservation {
    /// The flow.
    pub flow: Flow,
    /// The hops seen, first hop first.
    pub path: Path,
    /// Latency of each hop of `path`, nanoseconds; `None` where the node did not report it.
    pub hop_latency: Vec<Option<u64>>,
    /// Expected number of hops; `None` when unknown.
    pub hops_expected: Option<u8>,
    /// When the last report it is based on arrived here.
    pub received_at: Nanos,
    /// The origin of the hops.
    pub origin: Origin,
}

/// How long a packet of a flow stayed in a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopLatencyObservation {
    /// The flow of the packet.
    pub flow: Flow,
    /// The node, and the interfaces the packet entered and left it by.
    pub hop: Hop,
    /// The time between the two, on the node's clock.
    pub latency: Nanos,
    /// When the report arrived here.
    pub received_at: Nanos,
    /// The origin of the metadata.
    pub origin: Origin,
}

/// How deep a queue was when a packet of a flow passed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueDepthObservation {
    /// The flow of the packet.
    pub flow: Flow,
    /// The node, and the interfaces the packet entered and left it by.
    pub hop: Hop,
    /// The queue of the egress interface.
    pub queue_id: u8,
    /// Its occupancy, in the unit the node uses: bytes, cells or packets.
    pub occupancy: u32,
    /// When the report arrived here.
    pub received_at: Nanos,
    /// The origin of the metadata.
    pub origin: Origin,
}
