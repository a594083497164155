//! The register of events: every detector and the kinds of events it announces.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::NodeId;

/// Defines the kinds, their names and the details of their events from [`event_kinds!`](crate::event_kinds!).
macro_rules! define {
    ($($(#[$setting:meta])+ $detector:ident {
        $($(#[$about:meta])+ $module:ident: $kind:ident = $name:literal,)+
    })+) => {
        $($(
            mod $module;
            pub use self::$module::*;
        )+)+

        /// The kinds of events, named in kebab case for users.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum EventKind {
            $($($(#[$about])+ #[serde(rename = $name)] $kind,)+)+
        }

        impl EventKind {
            /// Every kind.
            pub const ALL: [Self; [$($($name,)+)+].len()] = [$($(Self::$kind,)+)+];

            /// Its name, in kebab case.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Self::$kind => $name,)+)+
                }
            }
        }

        /// What only one kind of event has.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "event", content = "detail")]
        #[non_exhaustive]
        pub enum EventDetail {
            $($($(#[$about])+ #[serde(rename = $name)] $kind($kind),)+)+
        }

        impl EventDetail {
            /// The kind of event this belongs to.
            #[must_use]
            pub const fn kind(&self) -> EventKind {
                match self {
                    $($(Self::$kind(_) => EventKind::$kind,)+)+
                }
            }

            /// The nodes that it names, in its own order; a node may be in it more than once.
            #[must_use]
            pub fn nodes(&self) -> Vec<NodeId> {
                match self {
                    $($(Self::$kind(detail) => detail.nodes(),)+)+
                }
            }
        }
    };
}

impl JsonSchema for EventKind {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EventKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // The kinds are not listed: a new one is no change of the API.
        json_schema!({
            "type": "string",
            "format": "event-kind",
            "description": "A kind of event, as docs/events.md lists them.",
        })
    }
}

/// The register of events: passes its rows to the macro `$define`.
///
/// A row is a detector with the kinds of events it announces, under a sentence that describes its settings. A
/// kind has a file here with a type of the kind's name, which holds what only its events have; its method
/// `nodes` returns the nodes that they name. A detector has a module in the collector with its settings, its
/// state and its events; its table below `[events]` has its name. A detector without settings has
/// `serde(skip)`.
#[macro_export]
macro_rules! event_kinds {
    ($define:ident) => {
        $define! {
            /// When a stream loses more reports than it may.
            report_loss {
                /// Reports were sent and did not arrive.
                report_loss: ReportLoss = "report-loss",
            }
            /// Nothing: the ledger has its own settings for a node that starts anew.
            #[serde(skip)]
            sequence_reset {
                /// A node started to number its reports anew.
                sequence_reset: SequenceReset = "sequence-reset",
            }
            /// Where sources number packets.
            sequence_gap {
                /// Packets of a flow are missing between those that arrived.
                sequence_gap: SequenceGap = "sequence-gap",
            }
            /// How many new flows are announced.
            new_flow {
                /// A flow is seen for the first time.
                new_flow: NewFlow = "new-flow",
            }
            /// Nothing: path changes follow the settings of flow tracking.
            #[serde(skip)]
            path_change {
                /// A flow takes another path.
                path_change: PathChange = "path-change",
            }
            /// What is a loop: `[events.loop]`.
            #[serde(rename = "loop")]
            loops {
                /// A packet came to the same node twice.
                packet_loop: Loop = "loop",
            }
            /// Which paths flows may take: `[[events.path_policy]]`, at most 64 rules. Default: none.
            path_policy {
                /// A path breaks a rule.
                path_policy: PathPolicy = "path-policy",
            }
            /// When a hop latency has changed.
            latency_change {
                /// A node holds packets longer or shorter than before.
                latency_change: LatencyChange = "latency-change",
            }
            /// When a hop latency is a spike.
            latency_spike {
                /// A node holds packets much longer than it did.
                latency_spike: LatencySpike = "latency-spike",
            }
            /// How many packets may stay in a node for how long.
            latency_objective {
                /// Too many packets stay in a node for too long.
                latency_objective: LatencyObjective = "latency-objective",
            }
            /// When a queue is congested.
            queue_congestion {
                /// A queue is congested.
                queue_congestion: QueueCongestion = "queue-congestion",
            }
            /// What is a microburst.
            microburst {
                /// A queue filled and emptied within a millisecond on a link that is not busy.
                microburst: Microburst = "microburst",
                /// Microbursts follow one another.
                microburst_storm: MicroburstStorm = "microburst-storm",
            }
            /// Whose packets are named when a queue is congested.
            culprits {
                /// Whose packets made others wait in a queue.
                culprits: Culprits = "culprits",
            }
            /// What drops mean.
            drop {
                /// A node drops packets.
                drop: Drop = "drop",
            }
            /// When a link is suspected of silent packet loss.
            silent_loss {
                /// Packets disappear behind a node, and no node reports a drop.
                silent_loss: SilentLoss = "silent-loss",
            }
            /// When an egress interface is nearly full.
            egress_utilization {
                /// An egress interface is nearly full.
                egress_utilization: EgressUtilization = "egress-utilization",
            }
            /// When links of equal cost carry unequal loads.
            ecmp_imbalance {
                /// Equal links carry unequal loads.
                ecmp_imbalance: EcmpImbalance = "ecmp-imbalance",
            }
            /// What timestamps show about clocks.
            clock {
                /// Packets arrive before they were sent: two clocks disagree.
                negative_link_latency: NegativeLinkLatency = "negative-link-latency",
                /// Two clocks run at different speeds.
                clock_drift: ClockDrift = "clock-drift",
            }
            /// What is wrong with nodes.
            health {
                /// Two senders use one node id.
                duplicate_node_id: DuplicateNodeId = "duplicate-node-id",
                /// A node reports that is not in the list of nodes.
                unknown_node: UnknownNode = "unknown-node",
                /// A node reports on telemetry reports.
                report_about_report: ReportAboutReport = "report-about-report",
            }
            /// Nothing: history trouble is found by the writer of history.
            #[serde(skip)]
            history_trouble {
                /// History is not being written.
                history_trouble: HistoryTrouble = "history-trouble",
            }
        }
    };
}

event_kinds!(define);

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
