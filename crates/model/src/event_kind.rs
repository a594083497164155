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
    /// Packets of a flow are missing between those that arrived.
    SequenceGap,
    /// A flow is seen for the first time.
    NewFlow,
    /// A flow takes another path.
    PathChange,
    /// A packet came to the same place twice.
    Loop,
    /// A path breaks a rule.
    PathPolicy,
    /// A node holds packets for another time than before.
    LatencyChange,
    /// A node holds packets much longer than it did.
    LatencySpike,
    /// Too many packets stay in a node for too long.
    LatencyObjective,
    /// A queue is congested.
    QueueCongestion,
    /// A queue filled and emptied within a millisecond on a link that is not busy.
    Microburst,
    /// Microbursts follow one another.
    MicroburstStorm,
    /// Whose packets made others wait in a queue.
    Culprits,
    /// A node drops packets.
    Drop,
    /// Packets vanish behind a node, and no node reports a drop.
    SilentLoss,
    /// Equal links carry unequal loads.
    EcmpImbalance,
    /// Packets arrive before they were sent: two clocks disagree.
    NegativeLinkLatency,
    /// Two clocks run at different speeds.
    ClockDrift,
    /// Two senders use one node id.
    DuplicateNodeId,
    /// A node reports that is not known.
    UnknownNode,
    /// A node reports on telemetry reports.
    ReportAboutReport,
}

impl EventKind {
    /// Every kind.
    pub const ALL: [EventKind; 22] = [
        EventKind::ReportLoss,
        EventKind::SequenceReset,
        EventKind::SequenceGap,
        EventKind::NewFlow,
        EventKind::PathChange,
        EventKind::Loop,
        EventKind::PathPolicy,
        EventKind::LatencyChange,
        EventKind::LatencySpike,
        EventKind::LatencyObjective,
        EventKind::QueueCongestion,
        EventKind::Microburst,
        EventKind::MicroburstStorm,
        EventKind::Culprits,
        EventKind::Drop,
        EventKind::SilentLoss,
        EventKind::EcmpImbalance,
        EventKind::NegativeLinkLatency,
        EventKind::ClockDrift,
        EventKind::DuplicateNodeId,
        EventKind::UnknownNode,
        EventKind::ReportAboutReport,
    ];

    /// Its name, in kebab case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::ReportLoss => "report-loss",
            EventKind::SequenceReset => "sequence-reset",
            EventKind::SequenceGap => "sequence-gap",
            EventKind::NewFlow => "new-flow",
            EventKind::PathChange => "path-change",
            EventKind::Loop => "loop",
            EventKind::PathPolicy => "path-policy",
            EventKind::LatencyChange => "latency-change",
            EventKind::LatencySpike => "latency-spike",
            EventKind::LatencyObjective => "latency-objective",
            EventKind::QueueCongestion => "queue-congestion",
            EventKind::Microburst => "microburst",
            EventKind::MicroburstStorm => "microburst-storm",
            EventKind::Culprits => "culprits",
            EventKind::Drop => "drop",
            EventKind::SilentLoss => "silent-loss",
            EventKind::EcmpImbalance => "ecmp-imbalance",
            EventKind::NegativeLinkLatency => "negative-link-latency",
            EventKind::ClockDrift => "clock-drift",
            EventKind::DuplicateNodeId => "duplicate-node-id",
            EventKind::UnknownNode => "unknown-node",
            EventKind::ReportAboutReport => "report-about-report",
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
