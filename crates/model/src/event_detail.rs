//! What does an event of one kind tell that others do not?

mod drops;
mod health;
mod latency;
mod path;
mod queue;
mod report;

use serde::{Deserialize, Serialize};

use crate::EventKind;

pub use self::drops::{Drop, DropClass, SilentLoss};
pub use self::health::{
    ClockDrift, DuplicateNodeId, LinkEnds, NegativeLinkLatency, ReportAboutReport, UnknownNode,
};
pub use self::latency::{LatencyChange, LatencyObjective, LatencySpike};
pub use self::path::{
    EcmpImbalance, LinkRate, Loop, LoopSupport, NewFlow, PathChange, PathChangeKind, PathPolicy, Violation,
};
pub use self::queue::{
    BurstClass, CongestionPhase, CulpritFlow, CulpritPattern, Culprits, Microburst, MicroburstStorm,
    QueueCongestion,
};
pub use self::report::{ReportLoss, SequenceGap, SequenceReset};

/// What only one kind of event has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", content = "detail", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EventDetail {
    /// Reports were sent and did not arrive.
    ReportLoss(ReportLoss),
    /// A node started to number its reports anew.
    SequenceReset(SequenceReset),
    /// Packets of a flow are missing between those that arrived.
    SequenceGap(SequenceGap),
    /// A flow is seen for the first time.
    NewFlow(NewFlow),
    /// A flow takes another path.
    PathChange(PathChange),
    /// A packet came to the same place twice.
    Loop(Loop),
    /// A path breaks a rule.
    PathPolicy(PathPolicy),
    /// A node holds packets for another time than before.
    LatencyChange(LatencyChange),
    /// A node holds packets much longer than it did.
    LatencySpike(LatencySpike),
    /// Too many packets stay in a node for too long.
    LatencyObjective(LatencyObjective),
    /// A queue is congested.
    QueueCongestion(QueueCongestion),
    /// A queue filled and emptied within a millisecond on a link that is not busy.
    Microburst(Microburst),
    /// Microbursts follow one another.
    MicroburstStorm(MicroburstStorm),
    /// Whose packets made others wait in a queue.
    Culprits(Culprits),
    /// A node drops packets.
    Drop(Drop),
    /// Packets vanish behind a node, and no node reports a drop.
    SilentLoss(SilentLoss),
    /// Equal links carry unequal loads.
    EcmpImbalance(EcmpImbalance),
    /// Packets arrive before they were sent: two clocks disagree.
    NegativeLinkLatency(NegativeLinkLatency),
    /// Two clocks run at different speeds.
    ClockDrift(ClockDrift),
    /// Two senders use one node id.
    DuplicateNodeId(DuplicateNodeId),
    /// A node reports that is not known.
    UnknownNode(UnknownNode),
    /// A node reports on telemetry reports.
    ReportAboutReport(ReportAboutReport),
}

impl EventDetail {
    /// The kind of event this belongs to.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        match self {
            EventDetail::ReportLoss(_) => EventKind::ReportLoss,
            EventDetail::SequenceReset(_) => EventKind::SequenceReset,
            EventDetail::SequenceGap(_) => EventKind::SequenceGap,
            EventDetail::NewFlow(_) => EventKind::NewFlow,
            EventDetail::PathChange(_) => EventKind::PathChange,
            EventDetail::Loop(_) => EventKind::Loop,
            EventDetail::PathPolicy(_) => EventKind::PathPolicy,
            EventDetail::LatencyChange(_) => EventKind::LatencyChange,
            EventDetail::LatencySpike(_) => EventKind::LatencySpike,
            EventDetail::LatencyObjective(_) => EventKind::LatencyObjective,
            EventDetail::QueueCongestion(_) => EventKind::QueueCongestion,
            EventDetail::Microburst(_) => EventKind::Microburst,
            EventDetail::MicroburstStorm(_) => EventKind::MicroburstStorm,
            EventDetail::Culprits(_) => EventKind::Culprits,
            EventDetail::Drop(_) => EventKind::Drop,
            EventDetail::SilentLoss(_) => EventKind::SilentLoss,
            EventDetail::EcmpImbalance(_) => EventKind::EcmpImbalance,
            EventDetail::NegativeLinkLatency(_) => EventKind::NegativeLinkLatency,
            EventDetail::ClockDrift(_) => EventKind::ClockDrift,
            EventDetail::DuplicateNodeId(_) => EventKind::DuplicateNodeId,
            EventDetail::UnknownNode(_) => EventKind::UnknownNode,
            EventDetail::ReportAboutReport(_) => EventKind::ReportAboutReport,
        }
    }
}
