//! Flows that a filter leaves, and what a filter may go on with: `GET /api/v1/flows/search`, `GET /api/v1/filter/complete`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;

/// Which flows, in which order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlowSearchQuestion {
    /// Conditions joined by `and`, `or`, `not` and parentheses, such as `source = 10.0.1.0/24 and latency > 1ms`; all
    /// flows where it is left out.
    pub filter: Option<String>,
    /// The order; the highest first.
    pub sort: FlowSort,
    /// Maximum number of flows; 100 where it is left out.
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<u32>,
    /// The `next` of the page before.
    pub after: Option<String>,
}

/// The order of flows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowSort {
    /// The longest hop latency.
    #[default]
    Worst,
    /// The sum of the hop latencies.
    Latency,
    /// Reports.
    Reports,
    /// Paths before the present one.
    Changes,
    /// When the last report arrived.
    LastSeen,
    /// When the first report arrived.
    FirstSeen,
}

/// Flows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowList {
    /// Flows that the filter leaves.
    pub found: u64,
    /// Flows that are known.
    pub known: u64,
    /// What times are after, nanoseconds since 1970.
    pub base: Exact,
    /// The flows of this page.
    pub columns: FlowColumns,
    /// What `after` is for the next page; null at the end.
    pub next: Option<String>,
}

/// A flow, as it was reported last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowColumns {
    /// Its id, text.
    pub id: Vec<Exact>,
    /// Source address.
    pub source: Vec<String>,
    /// Its name.
    pub source_name: Vec<Option<String>>,
    /// Destination address.
    pub destination: Vec<String>,
    /// Its name.
    pub destination_name: Vec<Option<String>>,
    /// IP protocol number.
    pub protocol: Vec<u8>,
    /// Source port; 0 for a protocol without ports.
    pub source_port: Vec<u16>,
    /// Destination port.
    pub destination_port: Vec<u16>,
    /// The nodes of its path, first hop first.
    pub path: Vec<Vec<u32>>,
    /// Whether all hops of the path were seen, as far as is known.
    pub complete: Vec<bool>,
    /// Sum of the latest hop latencies, nanoseconds.
    pub latency: Vec<Option<u64>>,
    /// The hop with the longest latency, by its place in `path`.
    pub worst: Vec<Option<u32>>,
    /// Its latency, nanoseconds.
    pub worst_latency: Vec<Option<u64>>,
    /// Paths before the present one, as far as they are remembered.
    pub changes: Vec<u32>,
    /// Individual reports.
    pub reports: Vec<u64>,
    /// When the first report arrived, nanoseconds after `base`.
    pub first_seen: Vec<u64>,
    /// When the last report arrived, nanoseconds after `base`.
    pub last_seen: Vec<u64>,
}

/// A filter that is being written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CompletionQuestion {
    /// The filter so far.
    pub text: String,
    /// The place of the caret, in characters; the end where it is left out.
    pub caret: Option<u32>,
}

/// What a filter may go on with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Completion {
    /// From which character on the text is replaced, up to the caret.
    pub from: u32,
    /// What it may be replaced by.
    pub options: Vec<CompletionOption>,
    /// Where the filter, as it is, is wrong, in characters; null: it is right.
    pub error_at: Option<u32>,
    /// What is wrong, in words.
    pub error: Option<String>,
}

/// Something a filter may go on with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionOption {
    /// The text.
    pub text: String,
    /// What it means.
    pub about: String,
}
