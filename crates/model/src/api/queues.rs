//! Depths of queues, in answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::window::WindowValues;
use crate::{Labels, Nanos, NodeId, QueueUnit};

/// How deep a queue is, in the node's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueView {
    /// The node.
    pub node_id: NodeId,
    /// The egress interface; null where the node does not tell.
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

/// How deep a queue is, in the node's unit and in bytes, with the names of its node and interface.
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
    /// In what the node counts; null: not known.
    pub unit: Option<QueueUnit>,
    /// `last` in bytes; null: not known.
    pub last_bytes: Option<u64>,
    /// `recent` in bytes; null: not known.
    pub recent_bytes: Option<u64>,
    /// `max` in bytes; null: not known.
    pub max_bytes: Option<u64>,
    /// What the names file says of the interface besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface_labels: Option<&'a Labels>,
    /// What the names file says of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_labels: Option<&'a Labels>,
    /// Occupancy in the window that was asked for; null: no report. Missing where none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Option<WindowValues>>,
}
