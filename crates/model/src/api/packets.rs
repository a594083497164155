//! The packets of a flow: `GET /api/v1/flows/{id}/packets`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::time::TimeSelection;
use crate::Origin;

/// Which packets of a flow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PacketsQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// The order of the packets.
    pub order: PacketOrder,
    /// Maximum number of packets.
    #[schemars(range(min = 1, max = 2_000))]
    pub limit: Option<u32>,
    /// Only packets that stayed in one node at least so long, nanoseconds.
    pub at_least: Option<u64>,
    /// Only packets that this node tells of.
    pub node: Option<u32>,
    /// The `next` of the page before.
    pub after: Option<String>,
}

/// The order of packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacketOrder {
    /// The earliest first.
    #[default]
    Time,
    /// The one with the longest sum of hop latencies first.
    Slowest,
}

/// Packets of a flow with their hops, as the store has them: a row of `hops` for each hop of each packet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Packets {
    /// The flow.
    pub flow: Exact,
    /// The beginning of the time that was looked at.
    pub from: Exact,
    /// Its end.
    pub to: Exact,
    /// What the times of arrival are after, nanoseconds since 1970.
    pub base: Exact,
    /// One row for each packet, in the order that was asked for.
    pub packets: PacketColumns,
    /// One row for each hop, in the order of `packets`, first hop first.
    pub hops: HopColumn,
    /// What `after` is for the next page; null at the end.
    pub next: Option<String>,
    /// What is left out of the answer because it is damaged.
    pub damage: u32,
}

/// The packets: each is a report, which in INT-MD tells of all hops and in MX and XD of one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketColumns {
    /// When the report arrived, nanoseconds after `base`.
    pub time: Vec<u64>,
    /// The reporting node.
    pub node: Vec<u32>,
    /// The part of it that numbers reports.
    pub hw_id: Vec<u8>,
    /// Sequence number of the datagram.
    pub sequence: Vec<u32>,
    /// Which report of the datagram.
    pub report: Vec<u32>,
    /// Where the hops come from.
    pub origin: Vec<Option<Origin>>,
    /// Sum of the hop latencies that are known, nanoseconds; null where none is.
    pub latency: Vec<Option<u64>>,
    /// Hops that the report tells of.
    pub hops: Vec<u32>,
    /// Whether the packet was dropped at the last of them.
    pub dropped: Vec<bool>,
}

/// The hops of packets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HopColumn {
    /// The row of `packets`.
    pub packet: Vec<u32>,
    /// Which hop of the packet, 0 is the first.
    pub hop: Vec<u32>,
    /// The node.
    pub node: Vec<u32>,
    /// Level 1 interface the packet entered by.
    pub ingress_interface: Vec<Option<u32>>,
    /// Level 1 interface the packet left by.
    pub egress_interface: Vec<Option<u32>>,
    /// Nanoseconds in the node.
    pub latency: Vec<Option<u64>>,
    /// The queue of the egress interface.
    pub queue: Vec<Option<u32>>,
    /// Its occupancy, in the node's unit.
    pub occupancy: Vec<Option<u32>>,
    /// Utilisation of the egress interface, in the node's unit.
    pub utilization: Vec<Option<u32>>,
    /// By the node's clock, text.
    pub ingress_timestamp: Vec<Option<Exact>>,
    /// By the node's clock, text.
    pub egress_timestamp: Vec<Option<Exact>>,
    /// Nanoseconds over the link from the hop before, by the clocks at both ends; may be below zero where these differ.
    pub link_latency: Vec<Option<i64>>,
    /// By how much `link_latency` may be wrong, nanoseconds; null: by any amount.
    pub link_uncertainty: Vec<Option<u64>>,
    /// Whether the node said that the packet met a congested queue.
    pub congested: Vec<bool>,
    /// Why it was dropped here, by the node's numbering.
    pub drop_reason: Vec<Option<u32>>,
}
