//! Where did every report go?

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::NodeId;

/// What became of every datagram that arrived, and of every report in them.
///
/// Datagrams up to `accepted`: `received = malformed + shed + duplicate + accepted`. `reordered` and `late`
/// are parts of `accepted`. `stored` and `store_failed` count individual reports, as `accepted_reports` does;
/// `exported` and `export_failed` count messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Totals")]
pub struct Ledger {
    /// Datagrams taken off the socket.
    pub received: u64,
    /// What the kernel dropped before the socket was read, as the kernel counts it: a piece of several datagrams of one
    /// sender counts once, and `lost` has the exact number. Not part of `received`.
    pub kernel_dropped: u64,
    /// Datagrams from addresses that may not report. Not part of `received`.
    #[serde(default)]
    pub refused: u64,
    /// Datagrams that are not a telemetry report.
    pub malformed: u64,
    /// Datagrams dropped because a queue of ours was full.
    pub shed: u64,
    /// Datagrams understood and counted once.
    pub accepted: u64,
    /// Datagrams whose sequence number had been accepted before.
    pub duplicate: u64,
    /// Accepted datagrams that arrived after a later one, inside the reorder window.
    pub reordered: u64,
    /// Accepted datagrams that arrived too late to tell whether they are duplicates.
    pub late: u64,
    /// Datagrams that were sent and did not arrive, as far as sequence numbers tell; falls when one of them
    /// arrives after all.
    pub lost: u64,
    /// Times at which an unknown number of datagrams was lost.
    pub lost_unknown: u64,
    /// Individual reports in the accepted datagrams.
    pub accepted_reports: u64,
    /// Individual reports written to the store.
    pub stored: u64,
    /// Individual reports the store did not take.
    pub store_failed: u64,
    /// Messages that outputs have delivered, summed over all outputs.
    #[serde(default)]
    pub exported: u64,
    /// Messages that outputs could not deliver, summed over all outputs.
    #[serde(default)]
    pub export_failed: u64,
}

impl Ledger {
    /// Whether each received datagram is in exactly one of the places it can be.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.received == self.malformed + self.shed + self.duplicate + self.accepted
    }
}

/// The ledger of one stream: the reports one part of one node sends to one socket, in sequence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Stream")]
pub struct StreamLedger {
    /// The reporting node; [`NodeId::NOT_AVAILABLE`] where its reports do not name it.
    pub node_id: NodeId,
    /// The address reports come from that do not name their node, as those of version 0.5 may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
    /// The part of the node that numbers the reports.
    pub hw_id: u8,
    /// The socket the reports were sent to.
    pub session: SocketAddr,
    /// Version of the Telemetry Report format: `2.0`, `1.0` or `0.5`.
    pub version: String,
    /// Datagrams understood and counted once.
    pub accepted: u64,
    /// Datagrams whose sequence number had been accepted before.
    pub duplicate: u64,
    /// Accepted datagrams that arrived after a later one, inside the reorder window.
    pub reordered: u64,
    /// Accepted datagrams that arrived too late to tell whether they are duplicates.
    pub late: u64,
    /// Datagrams that were sent and did not arrive, as far as sequence numbers tell.
    pub lost: u64,
    /// Times at which an unknown number of datagrams was lost.
    pub lost_unknown: u64,
    /// Individual reports in the accepted datagrams.
    pub accepted_reports: u64,
}

/// The ledger of one output: what became of every message that was to be delivered.
///
/// `offered = exported + export_failed + waiting`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Export")]
pub struct ExportLedger {
    /// The output's name.
    pub output: String,
    /// Messages that were to be delivered, those found in a spool at the start included.
    pub offered: u64,
    /// Messages that arrived where they should: the other side said so, or the disk took them.
    pub exported: u64,
    /// Messages that were given up.
    pub export_failed: u64,
    /// Messages whose fate is not decided.
    pub waiting: u64,
    /// Why messages were given up, where any were: the reason's name, and how many.
    pub failures: BTreeMap<String, u64>,
    /// Messages that settings or silences keep back; they were not offered.
    pub kept_back: u64,
    /// Attempts beyond the first.
    pub retries: u64,
    /// Bytes that wait on disk.
    pub spool_bytes: u64,
    /// What keeps it from delivering; `None`: the latest attempt went well, or there was none.
    pub trouble: Option<String>,
}

impl ExportLedger {
    /// Whether each message is in exactly one of the places it can be.
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
    /// Sums over all streams, those forgotten included.
    pub total: Ledger,
    /// The streams known at this time.
    pub streams: Vec<StreamLedger>,
    /// The outputs that are set up.
    #[serde(default)]
    pub exports: Vec<ExportLedger>,
    /// What was wrong with the malformed datagrams: the counts add up to `total.malformed`.
    #[serde(default)]
    pub malformed: Vec<FaultCount>,
    /// What was wrong with reported packets that are marked as INT and cannot be read; their reports are accepted.
    #[serde(default)]
    pub unreadable: Vec<FaultCount>,
    /// What was forgotten or passed over because a table was full, by the name of what it is.
    #[serde(default)]
    pub overflows: BTreeMap<String, u64>,
    /// Source addresses with more node ids than one may have, the most datagrams first; at most 256.
    #[serde(default)]
    pub refused_sources: Vec<RefusedSource>,
    /// The sockets that reports come in by, one for each worker.
    #[serde(default)]
    pub sockets: Vec<SocketLedger>,
}

/// A socket that reports come in by, and what the kernel grants it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Socket")]
pub struct SocketLedger {
    /// The address it receives on.
    pub address: SocketAddr,
    /// Bytes of datagrams that the kernel is to keep for it.
    pub wanted_buffer_bytes: u64,
    /// Bytes it keeps; where that is less, `sysctl net.core.rmem_max` allows more.
    pub buffer_bytes: u64,
    /// How the thread runs that empties it: `realtime`, `nice` or `normal`.
    pub priority: String,
}

/// A source address with more node ids than one may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedSource {
    /// The address.
    pub address: IpAddr,
    /// The latest node id that was refused.
    pub node_id: NodeId,
    /// Datagrams with refused node ids.
    pub datagrams: u64,
}

/// How often one kind of fault was found in one kind of header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Fault")]
pub struct FaultCount {
    /// The header, as the specification names it.
    pub header: String,
    /// What was wrong with it.
    pub fault: String,
    /// How often.
    pub count: u64,
}

impl LedgerView {
    /// Whether the totals balance, and every malformed datagram has a reason.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.total.balances()
            && self.total.malformed == self.malformed.iter().map(|fault| fault.count).sum::<u64>()
            && self.exports.iter().all(ExportLedger::balances)
    }
}

#[cfg(test)]
mod tests;
