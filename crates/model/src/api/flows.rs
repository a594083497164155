//! Flows and their paths, in answers.

use std::fmt::Display;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::{Flow, FlowId, Labels, Nanos, Origin, Path, PathId};

/// A flow and its path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct FlowView<'a> {
    /// Flow id, a 63-bit number; written as text for readers whose numbers have 53 bits.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub id: FlowId,
    /// The flow.
    pub flow: Flow,
    /// Latest path, first hop first; null if not yet known.
    pub path: Option<&'a Path>,
    /// Latest latency of each hop of `path`, nanoseconds; null if the node did not report it.
    pub hop_latency: &'a [Option<Nanos>],
    /// Expected number of hops; null if unknown.
    pub hops_expected: Option<u8>,
    /// Whether all hops of the path were seen, as far as is known.
    pub complete: bool,
    /// Origin of the path.
    pub origin: Origin,
    /// When `path` was first seen.
    pub path_since: Nanos,
    /// When the path was last confirmed.
    pub path_seen_at: Nanos,
    /// When the first report on the flow arrived.
    pub first_seen: Nanos,
    /// When the last report on the flow arrived.
    pub last_seen: Nanos,
    /// Individual reports on the flow.
    pub reports: u64,
}

impl FlowView<'_> {
    /// Whether all hops of the path were seen, as far as is known.
    #[must_use]
    pub fn path_is_complete(&self) -> bool {
        self.complete
    }
}

/// A flow and its path, with the names of its source, its destination and the nodes on the path.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Flow")]
pub struct NamedFlow<'a> {
    /// The flow as the collector knows it.
    #[serde(flatten)]
    pub flow: &'a FlowView<'a>,
    /// Name of the source.
    pub source_name: Option<&'a str>,
    /// Name of the destination.
    pub destination_name: Option<&'a str>,
    /// Names of the path's nodes.
    pub path_names: Vec<Option<&'a str>>,
    /// Labels of the source, from the names file.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub source_labels: Labels,
    /// Labels of the destination, from the names file.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub destination_labels: Labels,
}

/// A path of a flow, and when the flow took it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "FlowPath")]
pub struct FlowPathView<'a> {
    /// Path id, 16 hexadecimal digits; `path_id` in SQL.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub id: PathId,
    /// The path, first hop first.
    pub path: &'a Path,
    /// When the path was first seen.
    pub since: Nanos,
    /// When the path was last confirmed.
    pub until: Nanos,
    /// Whether it is the latest path.
    pub current: bool,
}

/// A flow and its recent paths.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowPaths<'a> {
    /// The flow.
    pub flow: NamedFlow<'a>,
    /// The paths, latest first.
    pub paths: Vec<FlowPathView<'a>>,
}

/// A path that flows between two places take or took recently.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PathBetween<'a> {
    /// Path id, 16 hexadecimal digits; `path_id` in SQL.
    pub id: String,
    /// The path, first hop first.
    pub path: &'a Path,
    /// Names of its nodes.
    pub path_names: Vec<Option<&'a str>>,
    /// Flows that took the path.
    pub flows: u64,
    /// Flows whose latest path it is.
    pub current_flows: u64,
    /// Individual reports on the flows whose latest path it is.
    pub reports: u64,
    /// When the path was first seen.
    pub since: Nanos,
    /// When the path was last confirmed.
    pub until: Nanos,
}

fn as_text<S: Serializer>(id: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}
