//! Reports as they arrived: `GET /api/v1/reports` and `GET /api/v1/reports/{node}/{hw_id}/{sequence}`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decode::Decoded;
use super::exact::Exact;
use super::time::{Time, TimeSelection};

/// Which reports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportsQuestion {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub time: TimeSelection,
    /// Only those of the node with this id.
    pub node: Option<u32>,
    /// Only those that the event with this id rests on; of any time where none is given.
    pub event: Option<String>,
    /// Maximum number of reports; 100 where it is left out.
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<u32>,
    /// The `next` of the page before.
    pub after: Option<String>,
}

/// Datagrams of reports whose bytes are kept, the latest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportList {
    /// The beginning of the time that was looked at.
    pub from: Exact,
    /// Its end.
    pub to: Exact,
    /// What the times of arrival are after, nanoseconds since 1970.
    pub base: Exact,
    /// One row for each datagram.
    pub reports: ReportColumns,
    /// What `after` is for the next page; null at the end.
    pub next: Option<String>,
    /// The time from which on every datagram is among the newest that are kept; null where none is.
    pub recent_from: Option<Exact>,
    /// What is left out of the answer because it is damaged.
    pub damage: u32,
}

/// Datagrams of reports. Columns of one length.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportColumns {
    /// When the datagram arrived, nanoseconds after `base`.
    pub time: Vec<u64>,
    /// The reporting node; 4,294,967,295 where the datagram does not tell it, null where it is no report.
    pub node: Vec<Option<u32>>,
    /// The part of it that numbers reports.
    pub hw_id: Vec<u8>,
    /// Sequence number of the datagram.
    pub sequence: Vec<u32>,
    /// Version of the format: `2.0`, `1.0`, `0.5` or `host-int`; empty where it is no report.
    pub version: Vec<String>,
    /// Bytes of the datagram.
    pub length: Vec<u32>,
    /// Who sent it.
    pub source: Vec<String>,
    /// The socket it was sent to.
    pub session: Vec<String>,
    /// The ids of the events that rest on it, as far as history has it as their evidence.
    pub events: Vec<Vec<String>>,
    /// The bytes of what is no report, at most 1,536 of them in hexadecimal; null for reports.
    pub hex: Vec<Option<String>>,
}

/// Which of the reports that have the same number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportQuestion {
    /// When it arrived; the nearest one within a second is meant. The latest where it is left out.
    pub at: Option<Time>,
}

/// A datagram of reports with its bytes and fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptReport {
    /// The reporting node.
    pub node_id: u32,
    /// The part of it that numbers reports.
    pub hw_id: u8,
    /// Sequence number of the datagram.
    pub sequence: u32,
    /// When it arrived.
    pub received_at: Exact,
    /// Who sent it.
    pub source: String,
    /// The socket it was sent to.
    pub session: String,
    /// Bytes of the datagram.
    pub length: u32,
    /// Whether it is among the newest datagrams; false: it is kept as evidence alone, of which the first 1,536 bytes are.
    pub recent: bool,
    /// The ids of the events that rest on it, as far as history has it as their evidence.
    pub events: Vec<String>,
    /// Its bytes and fields.
    pub decoded: Decoded,
}
