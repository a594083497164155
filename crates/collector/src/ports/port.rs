//! How long do packets stay in a node on their way to one egress interface?

use inband_model::{
    Confidence, Event, EventDetail, EventKind, LatencyChange, LatencyObjective, LatencySpike, Nanos, NodeId,
    Phase, Severity,
};

use crate::book::Signs;
use crate::outbox::Outbox;
use crate::sketch::Sketch;
use crate::views::{LevelView, PortView};

use super::gauge::Gauge;
use super::index::QueueIndex;
use super::objective::{Objective, Tally};
use super::sample::Sample;
use super::settings::{LatencyChangeSettings, LatencyObjectiveSettings, PortEventSettings};
use super::spike::Spike;
use super::spikes::Spikes;

/// The egress interface of a node.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) node_id: NodeId,
    pub(crate) egress_interface: Option<u16>,
    pub(crate) first_seen: Nanos,
    pub(crate) last_seen: Nanos,
    latency: Sketch,
    utilization: Option<Gauge>,
    /// Bytes of reported packets, and how many they were.
    carried: (u64, u64),
    spikes: Spikes,
    objective: Objective,
    changes: Signs,
    /// Its queues by their ids.
    pub(super) queues: Vec<(Option<u8>, QueueIndex)>,
}

impl Port {
    pub(super) fn new(now: Nanos, node_id: NodeId, egress_interface: Option<u16>) -> Port {
        Port {
            node_id,
            egress_interface,
            first_seen: now,
            last_seen: now,
            utilization: None,
            carried: (0, 0),
            latency: Sketch::new(),
            spikes: Spikes::new(),
            objective: Objective::default(),
            changes: Signs::default(),
            queues: Vec::new(),
        }
    }

    /// Takes in what a report tells of the node and the interface.
    #[inline]
    pub(super) fn record(&mut self, settings: &PortEventSettings, sample: &Sample<'_>, outbox: &mut Outbox) {
        self.last_seen = self.last_seen.max(sample.now);
        self.carried.0 += u64::from(sample.packet_bytes);
        self.carried.1 += 1;
        if let Some(utilization) = sample.reading.metadata.egress_utilization {
            self.utilization.get_or_insert(Gauge::new(sample.now)).record(sample.now, utilization);
        }
        let Some(latency) = sample.reading.latency else { return };
        self.latency.record(latency.0);
        let (node_id, egress) = (self.node_id, self.egress_interface);
        let goes_on = || outbox.is_active(EventKind::LatencySpike, &key(node_id, egress));
        if let Some((spike, course)) =
            self.spikes.record(&settings.latency_spike, sample.now, latency, goes_on)
        {
            outbox.begin(self.latency_spike(sample, &spike), course);
        }
        let objective = &settings.latency_objective;
        if let Some(tally) = self.objective.record(objective, sample.now, latency) {
            outbox.begin(self.missed(objective, sample, tally), objective.course());
        }
    }

    /// Takes in that the latency of a flow has changed.
    #[cold]
    pub(super) fn change(
        &mut self,
        settings: &LatencyChangeSettings,
        sample: &Sample<'_>,
        old: Nanos,
        outbox: &mut Outbox,
    ) {
        let (Some(&flow), Some(new)) = (sample.flow, sample.reading.latency) else { return };
        let Some(count) = self.changes.take(sample.now, settings.course()) else { return };
        let (node_id, egress_interface) = (self.node_id, self.egress_interface);
        let detail = EventDetail::LatencyChange(LatencyChange { node_id, egress_interface, flow, old, new });
        let event = Event { count, severity: Severity::Info, ..self.event(detail, sample) };
        outbox.begin(event, settings.course());
    }

    /// Mean utilisation over a second; `None` where no report tells.
    #[inline]
    pub(crate) fn mean_utilization(&self, now: Nanos) -> Option<u32> {
        self.utilization.as_ref()?.mean(now)
    }

    /// Bytes of the packets that reports told of, and how many they were.
    pub(crate) fn carried(&self) -> (u64, u64) {
        self.carried
    }

    /// The hop latency.
    pub(crate) fn latency(&self) -> &Sketch {
        &self.latency
    }

    /// The port as users see it.
    pub(super) fn view(&self) -> PortView {
        PortView {
            node_id: self.node_id,
            egress_interface: self.egress_interface,
            latency: self.latency.summary(),
            utilization: self.utilization.map(|gauge| LevelView {
                last: gauge.last,
                max: gauge.max,
                last_at: gauge.last_at,
            }),
            last_seen: self.last_seen,
        }
    }

    fn latency_spike(&self, sample: &Sample<'_>, spike: &Spike) -> Event {
        let detail = LatencySpike {
            node_id: self.node_id,
            egress_interface: self.egress_interface,
            latency: spike.latency,
            median: spike.median,
            median_deviation: spike.median_deviation,
            episodes: spike.episodes,
        };
        Event { count: spike.count, ..self.event(EventDetail::LatencySpike(detail), sample) }
    }

    fn missed(&self, settings: &LatencyObjectiveSettings, sample: &Sample<'_>, tally: Tally) -> Event {
        let detail = LatencyObjective {
            node_id: self.node_id,
            egress_interface: self.egress_interface,
            bound: Nanos(settings.bound_ns),
            window: Nanos::from_secs(settings.window_s),
            reports: tally.reports,
            over: tally.over,
        };
        let count = tally.over;
        Event {
            count,
            confidence: Confidence::Certain,
            ..self.event(EventDetail::LatencyObjective(detail), sample)
        }
    }

    fn event(&self, detail: EventDetail, sample: &Sample<'_>) -> Event {
        Event {
            detail,
            severity: Severity::Warning,
            key: key(self.node_id, self.egress_interface),
            first: sample.now,
            last: sample.now,
            count: 1,
            confidence: Confidence::Probable,
            evidence: vec![sample.report],
            phase: Phase::Once,
            silenced: false,
            end_reason: None,
        }
    }
}

/// Names an egress interface.
fn key(node_id: NodeId, egress_interface: Option<u16>) -> String {
    let egress = egress_interface.map_or("?".to_owned(), |id| id.to_string());
    format!("node {node_id} egress {egress}")
}
