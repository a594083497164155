//! Top talkers, in answers.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::query::Damage;
use crate::{Labels, Nanos};

/// The flows or hosts with the most reports in a time range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Talkers {
    /// Start of the time range.
    pub from: Nanos,
    /// End of the time range.
    pub until: Nanos,
    /// Length of a step, nanoseconds.
    pub step_ns: u64,
    /// The talkers, most reports first.
    pub talkers: Vec<Talker>,
    /// Damaged parts of history left out of the answer; usually empty.
    pub damage: Vec<Damage>,
}

/// A flow, a pair of hosts or a host, by the requested `by`; the keys of the others are missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Talker {
    /// The source.
    #[serde(flatten)]
    pub source: Option<TalkerSource>,
    /// The destination.
    #[serde(flatten)]
    pub destination: Option<TalkerDestination>,
    /// IP protocol number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u8>,
    /// Source port; 0 if the protocol has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_port: Option<u16>,
    /// Destination port; 0 if the protocol has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination_port: Option<u16>,
    /// Individual reports in the time range.
    pub reports: u64,
    /// Reports per second in each step, first step first.
    pub rates: Vec<f64>,
}

/// The source of a talker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TalkerSource {
    /// Source address.
    pub source: IpAddr,
    /// Name of the source.
    pub source_name: Option<String>,
    /// Labels of the source, from the names file.
    pub source_labels: Labels,
}

/// The destination of a talker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TalkerDestination {
    /// Destination address.
    pub destination: IpAddr,
    /// Name of the destination.
    pub destination_name: Option<String>,
    /// Labels of the destination, from the names file.
    pub destination_labels: Labels,
}
