//! Events, acknowledgements and silences, in answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EventView, Labels, QueueUnit, Silence};

/// An event announced by the collector, with names, labels, and values in known units.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub struct NamedEvent<'a> {
    /// The event.
    #[serde(flatten)]
    pub view: &'a EventView,
    /// The key with names in place of numbers.
    pub title: String,
    /// Labels of the event's subject, from the names file.
    #[serde(skip_serializing_if = "EventLabels::is_empty")]
    pub labels: EventLabels<'a>,
    /// Unit of the occupancy in `detail`; missing if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_unit: Option<QueueUnit>,
    /// The occupancy in `detail`, bytes; missing if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// The utilization in `detail`, thousandths of a full link; missing if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization_permille: Option<u64>,
}

/// Labels of an event's subject, from the names file.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "EventLabels")]
pub struct EventLabels<'a> {
    /// Labels of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<&'a Labels>,
    /// Labels of its egress interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<&'a Labels>,
    /// Labels of the flow's source.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub source: Labels,
    /// Labels of the flow's destination.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub destination: Labels,
}

impl EventLabels<'_> {
    /// Whether there are no labels.
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

/// The number of a created silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Number {
    /// The number.
    pub number: u64,
}

/// An empty answer: the request succeeded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Nothing {}
