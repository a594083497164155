//! Report datagrams with their bytes: `GET /api/v1/reports`,
//! `GET /api/v1/reports/{node}/{hw_id}/{sequence}`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decode::Decoded;
use super::exact::Exact;
use super::time::{Time, TimeSelection};

/// Parameters of `GET /api/v1/reports`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportsQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// Only reports of the node with this id.
    pub node: Option<u32>,
    /// Only reports that the event with this id is based on; of any time if no time range is given.
    pub event: Option<String>,
    /// Maximum number of reports; default: 100.
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<u32>,
    /// The `next` of the previous page.
    pub after: Option<String>,
}

/// Report datagrams whose bytes are kept, latest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportList {
    /// Start of the time range.
    pub from: Exact,
    /// End of the time range.
    pub to: Exact,
    /// Reference time of `reports`, nanoseconds since 1970.
    pub base: Exact,
    /// One row per datagram.
    pub reports: ReportColumns,
    /// Value of `after` for the next page; null at the end.
    pub next: Option<String>,
    /// Time from which on all datagrams are kept; null if none are.
    pub recent_from: Option<Exact>,
    /// Number of damaged parts of history left out of the answer.
    pub damage: u32,
}

/// Report datagrams, in columns of one length.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportColumns {
    /// When the datagram arrived, nanoseconds after `base`.
    pub time: Vec<u64>,
    /// The reporting node; 4,294,967,295 if the datagram does not name it, null if it is no report.
    pub node: Vec<Option<u32>>,
    /// HW ID: the part of the node that numbers reports.
    pub hw_id: Vec<u8>,
    /// Sequence number of the datagram.
    pub sequence: Vec<u32>,
    /// Version of the report format: `2.0`, `1.0`, `0.5` or `host-int`; empty if the datagram is no report.
    pub version: Vec<String>,
    /// Length of the datagram, bytes.
    pub length: Vec<u32>,
    /// Source address and port.
    pub source: Vec<String>,
    /// Address and port of the socket it was sent to.
    pub session: Vec<String>,
    /// Ids of the events based on it, as far as history holds it as their evidence.
    pub events: Vec<Vec<String>>,
    /// Bytes of a datagram that is no report, at most 1,536 in hexadecimal; null for reports.
    pub hex: Vec<Option<String>>,
}

/// Parameters of `GET /api/v1/reports/{node}/{hw_id}/{sequence}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportQuestion {
    /// Arrival time; selects the nearest report within a second. Default: the latest report.
    pub at: Option<Time>,
}

/// A report datagram with its bytes and fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptReport {
    /// The reporting node.
    pub node_id: u32,
    /// HW ID: the part of the node that numbers reports.
    pub hw_id: u8,
    /// Sequence number of the datagram.
    pub sequence: u32,
    /// When the datagram arrived.
    pub received_at: Exact,
    /// Source address and port.
    pub source: String,
    /// Address and port of the socket it was sent to.
    pub session: String,
    /// Length of the datagram, bytes.
    pub length: u32,
    /// Whether it is among the newest datagrams; false: only its first 1,536 bytes are kept, as evidence.
    pub recent: bool,
    /// Ids of the events based on it, as far as history holds it as their evidence.
    pub events: Vec<String>,
    /// Its bytes and fields.
    pub decoded: Decoded,
}
