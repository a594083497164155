//! The kinds of events: the one list that names each of them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Makes the kinds, their names and the details of their events from one list: a kind has a module, and in it a type of
/// the kind's name with what only its events have.
macro_rules! event_kinds {
    ($($(#[$about:meta])+ $module:ident: $kind:ident = $name:literal,)+) => {
        $(
            mod $module;
            pub use self::$module::*;
        )+

        /// The kinds of events, named in kebab case for users.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum EventKind {
            $($(#[$about])+ #[serde(rename = $name)] $kind,)+
        }

        impl EventKind {
            /// Every kind.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$kind),+];

            /// Its name, in kebab case.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }
        }

        /// What only one kind of event has.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "event", content = "detail")]
        #[non_exhaustive]
        pub enum EventDetail {
            $($(#[$about])+ #[serde(rename = $name)] $kind($kind),)+
        }

        impl EventDetail {
            /// The kind of event this belongs to.
            #[must_use]
            pub const fn kind(&self) -> EventKind {
                match self {
                    $(Self::$kind(_) => EventKind::$kind,)+
                }
            }
        }
    };
}

event_kinds! {
    /// Reports were sent and did not arrive.
    report_loss: ReportLoss = "report-loss",
    /// A node started to number its reports anew.
    sequence_reset: SequenceReset = "sequence-reset",
    /// Packets of a flow are missing between those that arrived.
    sequence_gap: SequenceGap = "sequence-gap",
    /// A flow is seen for the first time.
    new_flow: NewFlow = "new-flow",
    /// A flow takes another path.
    path_change: PathChange = "path-change",
    /// A packet came to the same place twice.
    packet_loop: Loop = "loop",
    /// A path breaks a rule.
    path_policy: PathPolicy = "path-policy",
    /// A node holds packets for another time than before.
    latency_change: LatencyChange = "latency-change",
    /// A node holds packets much longer than it did.
    latency_spike: LatencySpike = "latency-spike",
    /// Too many packets stay in a node for too long.
    latency_objective: LatencyObjective = "latency-objective",
    /// A queue is congested.
    queue_congestion: QueueCongestion = "queue-congestion",
    /// A queue filled and emptied within a millisecond on a link that is not busy.
    microburst: Microburst = "microburst",
    /// Microbursts follow one another.
    microburst_storm: MicroburstStorm = "microburst-storm",
    /// Whose packets made others wait in a queue.
    culprits: Culprits = "culprits",
    /// A node drops packets.
    drop: Drop = "drop",
    /// Packets vanish behind a node, and no node reports a drop.
    silent_loss: SilentLoss = "silent-loss",
    /// An egress interface is nearly full.
    egress_utilization: EgressUtilization = "egress-utilization",
    /// Equal links carry unequal loads.
    ecmp_imbalance: EcmpImbalance = "ecmp-imbalance",
    /// Packets arrive before they were sent: two clocks disagree.
    negative_link_latency: NegativeLinkLatency = "negative-link-latency",
    /// Two clocks run at different speeds.
    clock_drift: ClockDrift = "clock-drift",
    /// Two senders use one node id.
    duplicate_node_id: DuplicateNodeId = "duplicate-node-id",
    /// A node reports that is not known.
    unknown_node: UnknownNode = "unknown-node",
    /// A node reports on telemetry reports.
    report_about_report: ReportAboutReport = "report-about-report",
    /// History is not being written.
    history_trouble: HistoryTrouble = "history-trouble",
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
