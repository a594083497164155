//! The detectors, one file or folder for each kind of event, and the settings of all events.

pub(crate) mod detector;

use inband_model::{Nanos, Silence, Units};
use serde::{Deserialize, Serialize};

use crate::book::Book;
use crate::correlate::{LoopSettings, NewFlowSettings};
use crate::drops::DropSettings;
use crate::ledger::LossSettings;
use crate::numbers::NumberSettings;
use crate::outbox::Outbox;
use crate::paths::ClockSettings;
use crate::policy::PathRule;
use crate::ports::{
    CongestionSettings, CulpritSettings, LatencyChangeSettings, LatencyObjectiveSettings, MicroburstSettings,
    PortEventSettings, Sample, SpikeSettings,
};
use crate::silent::SilentLossSettings;

use self::detector::{Detector, Fabric, SeenPath, SeenReport};

/// Makes the settings of all events and the list of detectors from one list: a detector has a module with its type and
/// its settings, whose table below `[events]` has the name of the module.
macro_rules! detectors {
    ($($(#[$about:meta])+ $module:ident: $detector:ident, $settings:ident;)+) => {
        $(
            pub(crate) mod $module;
            pub use self::$module::$settings;
        )+

        /// What is announced, and when: `[events]`.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct EventSettings {
            /// Events that go on at the same time; more are announced and not followed to their end. Default 4096: about 5 MB.
            pub max_active: usize,
            /// Past events that are shown without asking the store. Default 4096: about 5 MB.
            pub max_past: usize,
            /// Events nobody is told of: `[[events.silence]]`. Default: none.
            pub silence: Vec<Silence>,
            /// When a stream loses more reports than it may.
            pub report_loss: LossSettings,
            /// When a queue is congested.
            pub queue_congestion: CongestionSettings,
            /// What is a microburst.
            pub microburst: MicroburstSettings,
            /// Whose packets are named when a queue was congested.
            pub culprits: CulpritSettings,
            /// When a hop latency is a spike.
            pub latency_spike: SpikeSettings,
            /// When a hop latency has changed.
            pub latency_change: LatencyChangeSettings,
            /// How many packets may stay in a node for how long.
            pub latency_objective: LatencyObjectiveSettings,
            /// How many new flows are announced.
            pub new_flow: NewFlowSettings,
            /// What is a loop: `[events.loop]`.
            #[serde(rename = "loop")]
            pub loops: LoopSettings,
            /// Which ways flows may take: `[[events.path_policy]]`, at most 64 rules. Default: none.
            pub path_policy: Vec<PathRule>,
            /// What drops mean.
            pub drop: DropSettings,
            /// When a link is suspected of losing packets in silence.
            pub silent_loss: SilentLossSettings,
            /// Where sources number packets.
            pub sequence_gap: NumberSettings,
            /// What timestamps say about clocks.
            pub clock: ClockSettings,
            $($(#[$about])+ pub $module: $settings,)+
            /// The units of nodes' metadata, of the names file. Default: none is known.
            #[serde(skip)]
            pub units: Units,
        }

        impl Default for EventSettings {
            fn default() -> Self {
                Self {
                    max_active: 4_096,
                    max_past: 4_096,
                    silence: Vec::new(),
                    report_loss: LossSettings::default(),
                    queue_congestion: CongestionSettings::default(),
                    microburst: MicroburstSettings::default(),
                    culprits: CulpritSettings::default(),
                    latency_spike: SpikeSettings::default(),
                    latency_change: LatencyChangeSettings::default(),
                    latency_objective: LatencyObjectiveSettings::default(),
                    new_flow: NewFlowSettings::default(),
                    loops: LoopSettings::default(),
                    path_policy: Vec::new(),
                    drop: DropSettings::default(),
                    silent_loss: SilentLossSettings::default(),
                    sequence_gap: NumberSettings::default(),
                    clock: ClockSettings::default(),
                    $($module: $settings::default(),)+
                    units: Units::default(),
                }
            }
        }

        /// The state of all detectors.
        #[derive(Debug)]
        pub(crate) struct Detectors {
            $($module: self::$module::$detector,)+
        }

        impl Detectors {
            pub(crate) fn new(settings: &EventSettings) -> Self {
                Self { $($module: Detector::new(&settings.$module),)+ }
            }

            /// Takes in a report.
            #[inline]
            pub(crate) fn handle_report(&mut self, report: &SeenReport<'_>, outbox: &mut Outbox) {
                $(self.$module.handle_report(report, outbox);)+
            }

            /// Takes in one hop of a report.
            #[inline]
            pub(crate) fn handle_hop(&mut self, hop: &Sample<'_>, outbox: &mut Outbox) {
                $(self.$module.handle_hop(hop, outbox);)+
            }

            /// Takes in a path that is new to its flow, with all its hops.
            pub(crate) fn handle_path(&mut self, path: &SeenPath<'_>) {
                $(self.$module.handle_path(path);)+
            }

            /// Does what has become due.
            pub(crate) fn handle_timeout(&mut self, now: Nanos, fabric: &Fabric<'_>, outbox: &mut Outbox) {
                $(self.$module.handle_timeout(now, fabric, outbox);)+
            }

            /// When `handle_timeout` has something to do.
            pub(crate) fn next_timeout(&self) -> Option<Nanos> {
                [$(self.$module.next_timeout()),+].into_iter().flatten().min()
            }

            /// How often there was no room for an interface.
            pub(crate) fn unfollowed_ports(&self) -> u64 {
                [$(self.$module.unfollowed_ports()),+].into_iter().sum()
            }
        }
    };
}

detectors! {
    /// When an egress interface is nearly full.
    egress_utilization: EgressUtilization, EgressUtilizationSettings;
    /// When links of equal cost carry unequal loads.
    ecmp_imbalance: Balance, BalanceSettings;
    /// What is strange about nodes.
    health: Health, HealthSettings;
}

impl EventSettings {
    /// The book of the events that go on and of those that are past.
    pub(crate) fn book(&self) -> Book {
        Book::new(self.max_active, self.max_past, &self.silence)
    }

    /// What is announced of interfaces and queues.
    pub(crate) fn of_ports(&self) -> PortEventSettings {
        PortEventSettings {
            queue_congestion: self.queue_congestion.clone(),
            microburst: self.microburst.clone(),
            culprits: self.culprits.clone(),
            latency_spike: self.latency_spike.clone(),
            latency_change: self.latency_change.clone(),
            latency_objective: self.latency_objective.clone(),
            units: self.units.clone(),
        }
    }
}
