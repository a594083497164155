//! Version, history, limits and units of a collector: `GET /api/v1/about`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;

/// The collector's version, history, limits and units: what a page needs before any other request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct About {
    /// The version of the program.
    pub version: String,
    /// The collector's current time.
    pub now: Exact,
    /// Whether history is kept.
    pub history: bool,
    /// Why history is not being written; null while it is.
    pub trouble: Option<String>,
    /// Start of the oldest hour of history; null if there is none.
    pub oldest: Option<Exact>,
    /// Total size of all segments, bytes.
    pub bytes: u64,
    /// Maximum total size of all files, bytes.
    pub max_bytes: u64,
    /// The tables of history.
    pub tables: Vec<AboutTable>,
    /// Limits of a history query.
    pub limits: AboutLimits,
    /// When a queue counts as congested; the thresholds in bytes apply to nodes whose unit is known.
    pub congestion: AboutCongestion,
    /// The nodes whose name or units are set in the names file.
    pub nodes: Vec<AboutNode>,
    /// Whether the caller may acknowledge and silence events.
    pub may_change: bool,
}

/// A table of history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AboutTable {
    /// Its name in SQL.
    pub name: String,
    /// What one row holds.
    pub about: String,
    /// How long rows are kept, seconds.
    pub retain_seconds: u64,
    /// Its columns.
    pub columns: Vec<String>,
}

/// Thresholds above which a queue is congested, and below which it is calm again; null: not used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AboutCongestion {
    /// Hop latency above which a queue is congested, nanoseconds.
    pub trigger_latency: u64,
    /// Hop latency below which it is calm, nanoseconds.
    pub reset_latency: u64,
    /// Occupancy above which it is congested, in the nodes' unit.
    pub trigger_occupancy: Option<u64>,
    /// Occupancy below which it is calm.
    pub reset_occupancy: Option<u64>,
    /// Bytes above which it is congested.
    pub trigger_bytes: Option<u64>,
    /// Bytes below which it is calm.
    pub reset_bytes: Option<u64>,
}

/// Limits of a history query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AboutLimits {
    /// Maximum time, seconds.
    pub query_seconds: u64,
    /// Maximum memory, bytes.
    pub query_bytes: u64,
    /// Maximum number of rows of an SQL answer.
    pub query_rows: u64,
}

/// A node's name, and the units of its metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AboutNode {
    /// The node.
    pub node: u32,
    /// Its name; null if it has none.
    pub name: Option<String>,
    /// Unit of its queue occupancy: `bytes`, `cells` or `packets`; null if unknown.
    pub queue_unit: Option<String>,
    /// Size of one of its cells, bytes; null if unknown.
    pub cell_bytes: Option<u32>,
    /// The utilization value that means a full link; null if unknown.
    pub utilization_full: Option<u32>,
}
