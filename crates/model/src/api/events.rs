//! Events, acknowledgements and silences, in answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EventView, Labels, QueueUnit, Silence};

/// Something the collector announced: an event with its key in names, the labels of what it is about, and its values in
/// units that are known.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub struct NamedEvent<'a> {
    /// The event.
    #[serde(flatten)]
    pub view: &'a EventView,
    /// The key with the names people use.
    pub title: String,
    /// What the names file says of what it is about.
    #[serde(skip_serializing_if = "EventLabels::is_empty")]
    pub labels: EventLabels<'a>,
    /// In what the node counts the occupancy in `detail`, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_unit: Option<QueueUnit>,
    /// The occupancy in `detail` in bytes, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// The utilization in `detail` in thousandths, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization_permille: Option<u64>,
}

/// What the names file says of what an event is about.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "EventLabels")]
pub struct EventLabels<'a> {
    /// Of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<&'a Labels>,
    /// Of its egress interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<&'a Labels>,
    /// Of the flow's source.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub source: Labels,
    /// Of its destination.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub destination: Labels,
}

impl EventLabels<'_> {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let of_flow = self.source.is_empty() && self.destination.is_empty();
        self.node.is_none() && self.interface.is_none() && of_flow
    }
}

/// A silence in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NumberedSilence {
    /// Its number.
    pub number: u64,
    /// The silence.
    pub silence: Silence,
}

/// What was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Number {
    /// Its number.
    pub number: u64,
}

/// It is done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Nothing {}
