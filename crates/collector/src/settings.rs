//! What can be set?

use inband_model::{Silence, Units};
use serde::{Deserialize, Serialize};

use crate::balance::BalanceSettings;
use crate::book::Book;
use crate::correlate::{LoopSettings, NewFlowSettings, PathSettings};
use crate::drops::DropSettings;
use crate::health::HealthSettings;
use crate::ledger::{LedgerSettings, LossSettings};
use crate::numbers::NumberSettings;
use crate::paths::ClockSettings;
use crate::policy::PathRule;
use crate::ports::{
    CongestionSettings, CulpritSettings, LatencyChangeSettings, LatencyObjectiveSettings, MicroburstSettings,
    PortEventSettings, PortSettings, SpikeSettings,
};
use crate::silent::SilentLossSettings;

/// Everything about the collector that can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CollectorSettings {
    /// Thresholds of the sequence ledger.
    pub ledger: LedgerSettings,
    /// Bounds and times of following flows.
    pub paths: PathSettings,
    /// Bounds of the statistics by node and interface.
    pub ports: PortSettings,
    /// What is announced, and when.
    pub events: EventSettings,
    /// Whether reports, and INT in them, are also read as deployed implementations write them where they depart from
    /// the formats. Default false.
    pub lenient: bool,
    /// Outputs that may wait to be polled; more are dropped and counted. Default 65,536.
    pub max_outputs: usize,
}

impl Default for CollectorSettings {
    fn default() -> CollectorSettings {
        CollectorSettings {
            ledger: LedgerSettings::default(),
            paths: PathSettings::default(),
            ports: PortSettings::default(),
            events: EventSettings::default(),
            lenient: false,
            max_outputs: 65_536,
        }
    }
}

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
    /// When links of equal cost carry unequal loads.
    pub ecmp_imbalance: BalanceSettings,
    /// What timestamps say about clocks.
    pub clock: ClockSettings,
    /// What is strange about nodes.
    pub health: HealthSettings,
    /// The units of nodes' metadata, of the names file. Default: none is known.
    #[serde(skip)]
    pub units: Units,
}

impl Default for EventSettings {
    fn default() -> EventSettings {
        EventSettings {
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
            ecmp_imbalance: BalanceSettings::default(),
            clock: ClockSettings::default(),
            health: HealthSettings::default(),
            units: Units::default(),
        }
    }
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
