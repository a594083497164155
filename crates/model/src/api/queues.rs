//! Queue occupancy, in answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::window::WindowValues;
use crate::{Labels, Nanos, NodeId, QueueUnit};

/// Occupancy of a queue, in the node's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueView {
    /// The node.
    pub node_id: NodeId,
    /// The egress interface; null if the node does not report it.
    pub egress_interface: Option<u16>,
    /// The queue of that interface.
    pub queue_id: u8,
    /// Latest occupancy.
    pub last: u32,
    /// Highest occupancy of the last second or two.
    pub recent: u32,
    /// Highest occupancy so far.
    pub max: u32,
    /// When `last` was reported.
    pub last_at: Nanos,
    /// Whether the queue is congested.
    pub congested: bool,
}

/// Occupancy of a queue, in the node's unit and in bytes, with the names of its node and interface.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Queue")]
pub struct NamedQueue<'a> {
    /// The queue as the collector knows it.
    #[serde(flatten)]
    pub queue: &'a QueueView,
    /// The name of the node.
    pub node_name: Option<&'a str>,
    /// The name of the interface.
    pub interface_name: Option<&'a str>,
    /// Unit of the occupancy; null if unknown.
    pub unit: Option<QueueUnit>,
    /// `last` in bytes; null if unknown.
    pub last_bytes: Option<u64>,
    /// `recent` in bytes; null if unknown.
    pub recent_bytes: Option<u64>,
    /// `max` in bytes; null if unknown.
    pub max_bytes: Option<u64>,
    /// Labels of the interface, from the names file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface_labels: Option<&'a Labels>,
    /// Labels of the node, from the names file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_labels: Option<&'a Labels>,
    /// Occupancy in the requested window; null if there is no report, missing without `window`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Option<WindowValues>>,
}
