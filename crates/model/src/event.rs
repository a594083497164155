//! What is worth telling a person?

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{EventDetail, Nanos, NodeId};

/// Something the collector announces.
///
/// In JSON the kind stands under `event` and what only this kind has under `detail`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// What happened.
    #[serde(flatten)]
    pub detail: EventDetail,
    /// How much it matters.
    pub severity: Severity,
    /// Events with the same kind and key are about the same thing.
    pub key: String,
    /// When the first report it rests on arrived here.
    pub first: Nanos,
    /// When the last report it rests on arrived here.
    pub last: Nanos,
    /// How many reports it rests on.
    pub count: u64,
    /// How sure it is.
    pub confidence: Confidence,
    /// Some of the reports it rests on, the latest ones at most.
    pub evidence: Vec<ReportReference>,
}

impl Event {
    /// The kind of the event.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        self.detail.kind()
    }
}

/// The kinds of events, named in kebab case for users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EventKind {
    /// Reports were sent and did not arrive.
    ReportLoss,
    /// A node started to number its reports anew.
    SequenceReset,
    /// A flow takes another path.
    PathChange,
    /// A packet came to the same place twice.
    Loop,
    /// A node holds packets much longer than it did.
    LatencySpike,
    /// A queue is congested.
    QueueCongestion,
}

/// How much an event matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Worth a look.
    Warning,
    /// Traffic, or the view of it, suffers.
    Critical,
}

/// How sure an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// One of several explanations.
    Possible,
    /// The best explanation of what was reported.
    Probable,
    /// What was reported leaves no other explanation.
    Certain,
}

/// Names one report, so that it can be found in the history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReportReference {
    /// The reporting node.
    pub node_id: NodeId,
    /// The part of the node that numbers the reports.
    pub hw_id: u8,
    /// Sequence number of the datagram.
    pub sequence: u32,
    /// When it arrived here.
    pub received_at: Nanos,
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EventKind::ReportLoss => "report-loss",
            EventKind::SequenceReset => "sequence-reset",
            EventKind::PathChange => "path-change",
            EventKind::Loop => "loop",
            EventKind::LatencySpike => "latency-spike",
            EventKind::QueueCongestion => "queue-congestion",
        })
    }
}

#[cfg(test)]
mod tests;
