//! Top talkers, in answers.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::query::Damage;
use crate::{Labels, Nanos};

/// Who was reported most in a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Talkers {
    /// When the time begins.
    pub from: Nanos,
    /// When it ends.
    pub until: Nanos,
    /// Length of a step, nanoseconds.
    pub step_ns: u64,
    /// Those with the most reports first.
    pub talkers: Vec<Talker>,
    /// What is damaged and left out of the answer; mostly empty.
    pub damage: Vec<Damage>,
}

/// A flow, a pair of hosts or a host, as was asked for: only the keys of that are there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Talker {
    /// The source.
    #[serde(flatten)]
    pub source: Option<TalkerSource>,
    /// The destination.
    #[serde(flatten)]
    pub destination: Option<TalkerDestination>,
    /// The number of the IP protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u8>,
    /// 0 where the protocol has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_port: Option<u16>,
    /// 0 where the protocol has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination_port: Option<u16>,
    /// Individual reports in that time.
    pub reports: u64,
    /// Reports a second in each step, the first step first.
    pub rates: Vec<f64>,
}

/// The source of a talker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TalkerSource {
    /// The address of the source.
    pub source: IpAddr,
    /// Its name.
    pub source_name: Option<String>,
    /// What the names file says of it besides.
    pub source_labels: Labels,
}

/// The destination of a talker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TalkerDestination {
    /// The address of the destination.
    pub destination: IpAddr,
    /// Its name.
    pub destination_name: Option<String>,
    /// What the names file says of it besides.
    pub destination_labels: Labels,
}
