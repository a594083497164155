//! The packets of a flow: `GET /api/v1/flows/{id}/packets`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::TimeSelection;
use crate::Origin;

/// Parameters of `GET /api/v1/flows/{id}/packets`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PacketsQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// The order of the packets.
    pub order: PacketOrder,
    /// Maximum number of packets; default: 200.
    #[schemars(range(min = 1, max = 2_000))]
    pub limit: Option<u32>,
    /// Only packets with at least this hop latency in one node, nanoseconds.
    pub at_least: Option<u64>,
    /// Only packets with a hop in this node.
    pub node: Option<u32>,
    /// The `next` of the previous page.
    pub after: Option<String>,
}

/// The order of packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacketOrder {
    /// Earliest first.
    #[default]
    Time,
    /// Longest sum of hop latencies first; with `node` or `at_least`, the sum of the hops that they select.
    Slowest,
}

/// Packets of a flow and their hops, as stored: each hop of each packet is a row of `hops`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Packets {
    /// The flow.
    pub flow: Exact,
    /// Start of the time range.
    pub from: Exact,
    /// End of the time range.
    pub to: Exact,
    /// Reference time of `packets`, nanoseconds since 1970.
    pub base: Exact,
    /// One row per packet, in the requested order.
    pub packets: PacketColumns,
    /// One row per hop, in the order of `packets`, first hop first.
    pub hops: HopColumn,
    /// Value of `after` for the next page; null at the end.
    pub next: Option<String>,
    /// Number of damaged parts of history left out of the answer.
    pub damage: u32,
}

/// Packets. Each is one report: in INT-MD of all hops, in INT-MX and INT-XD of one hop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketColumns {
    /// When the report arrived, nanoseconds after `base`.
    pub time: Vec<u64>,
    /// The reporting node.
    pub node: Vec<u32>,
    /// HW ID: the part of the node that numbers reports.
    pub hw_id: Vec<u8>,
    /// Sequence number of the datagram.
    pub sequence: Vec<u32>,
    /// Index of the report in the datagram; 0 is the first.
    pub report: Vec<u32>,
    /// Origin of the hops.
    pub origin: Vec<Option<Origin>>,
    /// Sum of the known hop latencies, nanoseconds; null if none is known.
    pub latency: Vec<Option<u64>>,
    /// Number of hops in the report.
    pub hops: Vec<u32>,
    /// Whether the packet was dropped at its last hop.
    pub dropped: Vec<bool>,
}

/// The hops of packets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HopColumn {
    /// Row of `packets`.
    pub packet: Vec<u32>,
    /// Hop number within the packet; 0 is the first.
    pub hop: Vec<u32>,
    /// The node.
    pub node: Vec<u32>,
    /// Level 1 interface the packet entered by.
    pub ingress_interface: Vec<Option<u32>>,
    /// Level 1 interface the packet left by.
    pub egress_interface: Vec<Option<u32>>,
    /// Hop latency, nanoseconds.
    pub latency: Vec<Option<u64>>,
    /// The queue of the egress interface.
    pub queue: Vec<Option<u32>>,
    /// Occupancy of that queue, in the node's unit.
    pub occupancy: Vec<Option<u32>>,
    /// Egress utilization, in the node's unit.
    pub utilization: Vec<Option<u32>>,
    /// Ingress timestamp by the node's clock, as text.
    pub ingress_timestamp: Vec<Option<Exact>>,
    /// Egress timestamp by the node's clock, as text.
    pub egress_timestamp: Vec<Option<Exact>>,
    /// Link latency from the previous hop, nanoseconds, by the clocks at both ends; may be negative if they
    /// differ.
    pub link_latency: Vec<Option<i64>>,
    /// Error bound of `link_latency`, nanoseconds; null: unbounded.
    pub link_uncertainty: Vec<Option<u64>>,
    /// Whether the node reported that the packet met a congested queue.
    pub congested: Vec<bool>,
    /// Drop reason at this hop, by the node's numbering; null if there is none.
    pub drop_reason: Vec<Option<u32>>,
}
