//! Flows and their paths, in answers.

use std::fmt::Display;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::{Flow, FlowId, Labels, Nanos, Origin, Path, PathId};

/// A flow and its path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct FlowView<'a> {
    /// Names the flow, a number of 63 bits; written as a text, for the sake of readers whose numbers have 53 bits.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub id: FlowId,
    /// The flow.
    pub flow: Flow,
    /// Its latest path, first hop first; null as long as nothing tells.
    pub path: Option<&'a Path>,
    /// The latest latency of each hop of `path`, nanoseconds; null where the node did not say.
    pub hop_latency: &'a [Option<Nanos>],
    /// Hops `path` should have; null when nothing tells.
    pub hops_expected: Option<u8>,
    /// Whether all hops of the path were seen, as far as is known.
    pub complete: bool,
    /// Where the path comes from.
    pub origin: Origin,
    /// When `path` was first seen.
    pub path_since: Nanos,
    /// When the path was last confirmed.
    pub path_seen_at: Nanos,
    /// When the first report on the flow arrived.
    pub first_seen: Nanos,
    /// When the last one did.
    pub last_seen: Nanos,
    /// Individual reports on it.
    pub reports: u64,
}

impl FlowView<'_> {
    /// Whether all hops of the path were seen, as far as is known.
    #[must_use]
    pub fn path_is_complete(&self) -> bool {
        self.complete
    }
}

/// A flow and its path, with the names of its ends and of the nodes on its path.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Flow")]
pub struct NamedFlow<'a> {
    /// The flow as the collector knows it.
    #[serde(flatten)]
    pub flow: &'a FlowView<'a>,
    /// What people call the source.
    pub source_name: Option<&'a str>,
    /// What people call the destination.
    pub destination_name: Option<&'a str>,
    /// What people call the nodes of the path.
    pub path_names: Vec<Option<&'a str>>,
    /// What the names file says of the source besides.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub source_labels: Labels,
    /// What the names file says of the destination besides.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub destination_labels: Labels,
}

/// A path of a flow, and when the flow took it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "FlowPath")]
pub struct FlowPathView<'a> {
    /// Names the path, 16 hexadecimal digits, as `path_id` in SQL.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub id: PathId,
    /// The path, first hop first.
    pub path: &'a Path,
    /// When it was first seen.
    pub since: Nanos,
    /// When it was last confirmed.
    pub until: Nanos,
    /// Whether it is the latest.
    pub current: bool,
}

/// A flow, and the paths it has taken lately.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowPaths<'a> {
    /// The flow.
    pub flow: NamedFlow<'a>,
    /// The latest first.
    pub paths: Vec<FlowPathView<'a>>,
}

/// A path that flows between two places take, or have taken lately.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PathBetween<'a> {
    /// Names the path, 16 hexadecimal digits, as `path_id` in SQL.
    pub id: String,
    /// The path, first hop first.
    pub path: &'a Path,
    /// What people call its nodes.
    pub path_names: Vec<Option<&'a str>>,
    /// Flows that took it.
    pub flows: u64,
    /// Flows whose latest path it is.
    pub current_flows: u64,
    /// Individual reports on those.
    pub reports: u64,
    /// When it was first seen.
    pub since: Nanos,
    /// When it was last confirmed.
    pub until: Nanos,
}

fn as_text<S: Serializer>(id: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}
