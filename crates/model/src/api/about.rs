//! What this collector is and keeps: `GET /api/v1/about`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;

/// What a page has to know before it asks anything else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct About {
    /// The version of the program.
    pub version: String,
    /// The collector's time.
    pub now: Exact,
    /// Whether history is kept.
    pub history: bool,
    /// Why it is not written at this time; null: it is.
    pub trouble: Option<String>,
    /// When the oldest hour of history begins; null where there is none.
    pub oldest: Option<Exact>,
    /// Bytes of all segments.
    pub bytes: u64,
    /// How large all files may be.
    pub max_bytes: u64,
    /// The tables of history.
    pub tables: Vec<AboutTable>,
    /// What questions may cost.
    pub limits: AboutLimits,
    /// When queues are congested: of bytes, where the unit of the node is known.
    pub congestion: AboutCongestion,
    /// The nodes whose units the names file tells.
    pub nodes: Vec<AboutNode>,
    /// Whether the caller may acknowledge and silence events.
    pub may_change: bool,
}

/// A table of history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AboutTable {
    /// Its name in SQL.
    pub name: String,
    /// What a row is.
    pub about: String,
    /// How long rows are kept, seconds.
    pub retain_seconds: u64,
    /// Its columns.
    pub columns: Vec<String>,
}

/// From where on queues count as congested, and below which they are calm again; null: that does not count.
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

/// What questions may cost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AboutLimits {
    /// Longest time of a question to history, seconds.
    pub query_seconds: u64,
    /// Most memory of it, bytes.
    pub query_bytes: u64,
    /// Most rows of an answer in SQL.
    pub query_rows: u64,
}

/// The units of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AboutNode {
    /// The node.
    pub node: u32,
    /// In what it counts queue occupancy: `bytes`, `cells` or `packets`; null where that is not known.
    pub queue_unit: Option<String>,
    /// Size of its cells, bytes.
    pub cell_bytes: Option<u32>,
    /// The utilisation that means a full link.
    pub utilization_full: Option<u32>,
}
