//! Which kinds of events are there?

use std::fmt;

use serde::{Deserialize, Serialize};

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

impl EventKind {
    /// Every kind.
    pub const ALL: [EventKind; 6] = [
        EventKind::ReportLoss,
        EventKind::SequenceReset,
        EventKind::PathChange,
        EventKind::Loop,
        EventKind::LatencySpike,
        EventKind::QueueCongestion,
    ];

    /// Its name, in kebab case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::ReportLoss => "report-loss",
            EventKind::SequenceReset => "sequence-reset",
            EventKind::PathChange => "path-change",
            EventKind::Loop => "loop",
            EventKind::LatencySpike => "latency-spike",
            EventKind::QueueCongestion => "queue-congestion",
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
