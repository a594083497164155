//! The ledger: counts of every report by outcome.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::NodeId;

/// Counts of every datagram that arrived and of every report in them, by outcome.
///
/// Datagrams up to `accepted`: `received = malformed + shed + duplicate + accepted`. `reordered` and `late`
/// are parts of `accepted`. `stored` and `store_failed` count individual reports, as `accepted_reports` does;
/// `exported` and `export_failed` count messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Totals")]
pub struct Ledger {
    /// Datagrams read from the socket.
    pub received: u64,
    /// Datagrams the kernel dropped before the socket was read, by the kernel's count: a coalesced group of
    /// datagrams of one sender counts once; `lost` has the exact number. Not part of `received`.
    pub kernel_dropped: u64,
    /// Datagrams from addresses that are not allowed to report. Not part of `received`.
    #[serde(default)]
    pub refused: u64,
    /// Datagrams that are not a telemetry report.
    pub malformed: u64,
    /// Datagrams dropped because a queue of the collector was full.
    pub shed: u64,
    /// Datagrams parsed and counted once.
    pub accepted: u64,
    /// Datagrams whose sequence number had been accepted before.
    pub duplicate: u64,
    /// Accepted datagrams that arrived after a later one, inside the reorder window.
    pub reordered: u64,
    /// Accepted datagrams that arrived too late to tell whether they are duplicates.
    pub late: u64,
    /// Datagrams that were sent and did not arrive, according to sequence numbers; decreases when one of them
    /// arrives late.
    pub lost: u64,
    /// Losses of an unknown number of datagrams.
    pub lost_unknown: u64,
    /// Individual reports in the accepted datagrams.
    pub accepted_reports: u64,
    /// Individual reports written to the store.
    pub stored: u64,
    /// Individual reports the store failed to write.
    pub store_failed: u64,
    /// Messages that outputs have delivered, summed over all outputs.
    #[serde(default)]
    pub exported: u64,
    /// Messages that outputs could not deliver, summed over all outputs.
    #[serde(default)]
    pub export_failed: u64,
}

impl Ledger {
    /// Whether each received datagram has exactly one outcome.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.received == self.malformed + self.shed + self.duplicate + self.accepted
    }
}

/// The ledger of one stream: the reports that one part of one node sends to one socket, in sequence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Stream")]
pub struct StreamLedger {
    /// The reporting node; [`NodeId::NOT_AVAILABLE`] where its reports do not name it.
    pub node_id: NodeId,
    /// The source address of reports that do not name their node, such as some of version 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
    /// HW ID: the part of the node that numbers reports.
    pub hw_id: u8,
    /// The socket the reports were sent to.
    pub session: SocketAddr,
    /// Version of the Telemetry Report format: `2.0`, `1.0` or `0.5`.
    pub version: String,
    /// Datagrams parsed and counted once.
    pub accepted: u64,
    /// Datagrams whose sequence number had been accepted before.
    pub duplicate: u64,
    /// Accepted datagrams that arrived after a later one, inside the reorder window.
    pub reordered: u64,
    /// Accepted datagrams that arrived too late to tell whether they are duplicates.
    pub late: u64,
    /// Datagrams that were sent and did not arrive, according to sequence numbers.
    pub lost: u64,
    /// Losses of an unknown number of datagrams.
    pub lost_unknown: u64,
    /// Individual reports in the accepted datagrams.
    pub accepted_reports: u64,
}

/// The ledger of one output: counts of every message to deliver, by outcome.
///
/// `offered = exported + export_failed + waiting`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Export")]
pub struct ExportLedger {
    /// The output's name.
    pub output: String,
    /// Messages to deliver, including those found in a spool at the start.
    pub offered: u64,
    /// Messages delivered: the receiver confirmed them, or they were written to disk.
    pub exported: u64,
    /// Messages that were given up.
    pub export_failed: u64,
    /// Messages still pending.
    pub waiting: u64,
    /// Messages given up, by the name of the reason.
    pub failures: BTreeMap<String, u64>,
    /// Messages withheld by settings or silences; they were not offered.
    pub kept_back: u64,
    /// Attempts beyond the first.
    pub retries: u64,
    /// Bytes pending on disk.
    pub spool_bytes: u64,
    /// Why delivery fails; `None` if the latest attempt succeeded, or there was none.
    pub trouble: Option<String>,
}

impl ExportLedger {
    /// Whether each message has exactly one outcome.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.offered == self.exported + self.export_failed + self.waiting
            && self.export_failed == self.failures.values().sum::<u64>()
    }
}

/// The whole ledger: totals, each stream, and each output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Ledger")]
pub struct LedgerView {
    /// Sums over all streams, including evicted ones.
    pub total: Ledger,
    /// The streams currently known.
    pub streams: Vec<StreamLedger>,
    /// The configured outputs.
    #[serde(default)]
    pub exports: Vec<ExportLedger>,
    /// Faults of the malformed datagrams; the counts add up to `total.malformed`.
    #[serde(default)]
    pub malformed: Vec<FaultCount>,
    /// Faults of reported packets that are marked as INT and cannot be parsed; their reports are accepted.
    #[serde(default)]
    pub unreadable: Vec<FaultCount>,
    /// Entries evicted or skipped because a table was full, by the name of the table's subject.
    #[serde(default)]
    pub overflows: BTreeMap<String, u64>,
    /// Source addresses with more node ids than allowed, most datagrams first; at most 256.
    #[serde(default)]
    pub refused_sources: Vec<RefusedSource>,
    /// The sockets that receive reports, one per worker.
    #[serde(default)]
    pub sockets: Vec<SocketLedger>,
}

/// A socket that receives reports, with its kernel settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Socket")]
pub struct SocketLedger {
    /// The address it receives on.
    pub address: SocketAddr,
    /// Receive buffer requested from the kernel, bytes.
    pub wanted_buffer_bytes: u64,
    /// Receive buffer granted by the kernel, bytes; where it is smaller, `sysctl net.core.rmem_max` allows
    /// more.
    pub buffer_bytes: u64,
    /// Scheduling of the thread that reads it: `realtime`, `nice` or `normal`.
    pub priority: String,
}

/// A source address with more node ids than allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedSource {
    /// The address.
    pub address: IpAddr,
    /// The latest node id that was refused.
    pub node_id: NodeId,
    /// Datagrams with refused node ids.
    pub datagrams: u64,
}

/// How often one kind of fault occurred in one kind of header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Fault")]
pub struct FaultCount {
    /// The header, as the specification names it.
    pub header: String,
    /// The fault.
    pub fault: String,
    /// How often.
    pub count: u64,
}

impl LedgerView {
    /// Whether the totals balance, and every malformed datagram has a fault.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.total.balances()
            && self.total.malformed == self.malformed.iter().map(|fault| fault.count).sum::<u64>()
            && self.exports.iter().all(ExportLedger::balances)
    }
}

#[cfg(test)]
mod tests;
