//! The record of one hop in one report.

use serde::{Deserialize, Serialize};

use crate::{Flow, Nanos, NodeId, Origin};

/// What one individual report contains about one hop of a packet: the smallest unit of history.
///
/// A report without hops is kept as one record of its reporter with `hop_count` 0. `None` means not
/// available: the node wrote all ones, or nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HopRecord {
    /// When the report arrived here.
    pub received_at: Nanos,
    /// The reporting node.
    pub reporter: NodeId,
    /// HW ID: the part of the reporting node that numbers reports.
    pub hw_id: u8,
    /// Sequence number of the datagram.
    pub sequence: u32,
    /// Index of the report in the datagram, from 0.
    pub report_index: u16,
    /// Version of the report's format.
    pub version: ReportVersion,
    /// The origin of the metadata.
    pub origin: Origin,
    /// D: a packet was dropped.
    pub dropped: bool,
    /// Q: the packet met a congested queue.
    pub congested_queue: bool,
    /// F: the packet belongs to a tracked flow.
    pub tracked_flow: bool,
    /// I: the report comes from a transit hop that removed the stack.
    pub intermediate: bool,
    /// Why the packet was dropped, by the code of the reporting node.
    pub drop_reason: Option<u8>,
    /// The flow of the reported packet.
    pub flow: Option<Flow>,
    /// Index of the hop in the packet; 0 is the first.
    pub hop_index: u8,
    /// Number of hops in the report.
    pub hop_count: u8,
    /// The node of this hop.
    pub node_id: NodeId,
    /// Level 1 interface the packet entered by.
    pub ingress_interface: Option<u16>,
    /// Level 1 interface the packet left by.
    pub egress_interface: Option<u16>,
    /// Level 2 interface the packet entered by.
    pub ingress_interface_level2: Option<u32>,
    /// Level 2 interface the packet left by.
    pub egress_interface_level2: Option<u32>,
    /// How long the packet stayed in the node, on the node's clock.
    pub latency: Option<Nanos>,
    /// The queue of the egress interface.
    pub queue_id: Option<u8>,
    /// Its occupancy, in the unit the node uses: bytes, cells or packets.
    pub queue_occupancy: Option<u32>,
    /// When the packet entered, by the node's clock and in its unit.
    pub ingress_timestamp: Option<u64>,
    /// When the packet left, by the node's clock and in its unit.
    pub egress_timestamp: Option<u64>,
    /// Utilisation of the egress interface, in the unit the node uses.
    pub egress_utilization: Option<u32>,
    /// The buffer the packet waited in.
    pub buffer_id: Option<u8>,
    /// Its occupancy, in the unit the node uses.
    pub buffer_occupancy: Option<u32>,
}

/// Version of the format of a telemetry report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ReportVersion {
    /// Telemetry Report 0.5.
    #[serde(rename = "0.5")]
    V0_5,
    /// Telemetry Report 1.0.
    #[serde(rename = "1.0")]
    V1_0,
    /// Telemetry Report 2.0.
    #[default]
    #[serde(rename = "2.0")]
    V2_0,
    /// The report of Host-INT.
    #[serde(rename = "host-int")]
    HostInt,
}

impl ReportVersion {
    /// Its name, as users write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ReportVersion::V0_5 => "0.5",
            ReportVersion::V1_0 => "1.0",
            ReportVersion::V2_0 => "2.0",
            ReportVersion::HostInt => "host-int",
        }
    }
}
