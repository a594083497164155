//! Flow search and filter completion: `GET /api/v1/flows/search`, `GET /api/v1/filter/complete`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;

/// Parameters of `GET /api/v1/flows/search`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlowSearchQuestion {
    /// Conditions joined by `and`, `or`, `not` and parentheses, such as
    /// `source = 10.0.1.0/24 and latency > 1ms`; default: all flows.
    pub filter: Option<String>,
    /// Sort order, highest first.
    pub sort: FlowSort,
    /// Maximum number of flows; default: 100.
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<u32>,
    /// The `next` of the previous page.
    pub after: Option<String>,
}

/// Sort order of flows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowSort {
    /// Longest hop latency.
    #[default]
    Worst,
    /// Sum of the hop latencies.
    Latency,
    /// Number of reports.
    Reports,
    /// Number of earlier paths.
    Changes,
    /// Arrival of the last report.
    LastSeen,
    /// Arrival of the first report.
    FirstSeen,
}

/// A page of flows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowList {
    /// Number of flows that match the filter.
    pub found: u64,
    /// Number of known flows.
    pub known: u64,
    /// Reference time of `columns`, nanoseconds since 1970.
    pub base: Exact,
    /// The flows of this page.
    pub columns: FlowColumns,
    /// Value of `after` for the next page; null at the end.
    pub next: Option<String>,
}

/// Flows with their latest reported values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowColumns {
    /// Flow id, as text.
    pub id: Vec<Exact>,
    /// Source address.
    pub source: Vec<String>,
    /// Name of the source.
    pub source_name: Vec<Option<String>>,
    /// Destination address.
    pub destination: Vec<String>,
    /// Name of the destination.
    pub destination_name: Vec<Option<String>>,
    /// IP protocol number.
    pub protocol: Vec<u8>,
    /// Source port; 0 for a protocol without ports.
    pub source_port: Vec<u16>,
    /// Destination port.
    pub destination_port: Vec<u16>,
    /// Nodes of the path, first hop first.
    pub path: Vec<Vec<u32>>,
    /// Whether all hops of the path were seen, as far as is known.
    pub complete: Vec<bool>,
    /// Sum of the latest hop latencies, nanoseconds.
    pub latency: Vec<Option<u64>>,
    /// Index in `path` of the hop with the longest latency.
    pub worst: Vec<Option<u32>>,
    /// Latency of that hop, nanoseconds.
    pub worst_latency: Vec<Option<u64>>,
    /// Number of earlier paths, as far as they are remembered.
    pub changes: Vec<u32>,
    /// Individual reports.
    pub reports: Vec<u64>,
    /// When the first report arrived, nanoseconds after `base`.
    pub first_seen: Vec<u64>,
    /// When the last report arrived, nanoseconds after `base`.
    pub last_seen: Vec<u64>,
}

/// Parameters of `GET /api/v1/filter/complete`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CompletionQuestion {
    /// The filter so far.
    pub text: String,
    /// Caret position, in characters; default: the end of the text.
    pub caret: Option<u32>,
}

/// Completions of a filter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Completion {
    /// Start of the text to replace, in characters; it ends at the caret.
    pub from: u32,
    /// Possible replacements.
    pub options: Vec<CompletionOption>,
    /// Position of the error in the filter, in characters; null if the filter is valid.
    pub error_at: Option<u32>,
    /// The error, in words; null if the filter is valid.
    pub error: Option<String>,
}

/// A possible replacement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionOption {
    /// The text.
    pub text: String,
    /// Its meaning.
    pub about: String,
}
