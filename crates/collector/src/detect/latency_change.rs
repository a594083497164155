//! Flows whose latency in a node has changed.

use inband_model::{Event, EventDetail, LatencyChange, Nanos, Severity};
use serde::{Deserialize, Serialize};

use crate::book::{Course, Signs};
use crate::outbox::Outbox;
use crate::ports::{Released, Sample};

use super::detector::{Common, Detector};
use super::slots::Slots;

/// When the latency of a flow in a node has changed: `[events.latency_change]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LatencyChangeSettings {
    /// The latency has changed when it differs by more than this from that of the flow's packet before,
    /// nanoseconds. Default 256.
    pub min_change_ns: u64,
    /// Instead, the latency has changed when it falls into another multiple of this many nanoseconds, rounded
    /// down to a power of two. Default: none.
    pub quantum_ns: Option<u64>,
    /// Rising bounds in nanoseconds; if there are any, the latency has changed when it crosses one, whatever
    /// the other settings are. Default: none. Host-INT's example: 5000, 10000, 20000, 40000, 60000, 120000.
    pub buckets_ns: Vec<u64>,
    /// Seconds without another change after which the event of an interface ends, at least 1. Default 60.
    pub quiet_s: u64,
}

impl Default for LatencyChangeSettings {
    fn default() -> LatencyChangeSettings {
        LatencyChangeSettings { min_change_ns: 256, quantum_ns: None, buckets_ns: Vec::new(), quiet_s: 60 }
    }
}

impl LatencyChangeSettings {
    /// Whether a latency is another than before.
    #[inline]
    fn moved(&self, old: Nanos, new: Nanos) -> bool {
        if self.buckets_ns.is_empty() {
            let Some(quantum) = self.quantum_ns else { return old.0.abs_diff(new.0) > self.min_change_ns };
            let shift = quantum.max(1).ilog2();
            return old.0 >> shift != new.0 >> shift;
        }
        let bucket = |latency: Nanos| self.buckets_ns.iter().take_while(|bound| **bound <= latency.0).count();
        bucket(old) != bucket(new)
    }

    /// The course of the event of an interface.
    fn course(&self) -> Course {
        Course::until_quiet(Nanos::from_secs(self.quiet_s))
    }
}

pub(crate) type Settings = LatencyChangeSettings;

/// The changes of each interface.
#[derive(Debug)]
pub(crate) struct State {
    settings: LatencyChangeSettings,
    signs: Slots<Signs>,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, _: &Common) -> Self {
        Self { settings: settings.clone(), signs: Slots::default() }
    }

    fn handle_release(&mut self, released: &Released) {
        self.signs.clear(released.port.place());
    }

    #[inline]
    fn handle_latency(&mut self, hop: &Sample<'_>, before: Nanos, outbox: &mut Outbox) {
        if hop.reading.latency.is_some_and(|latency| self.settings.moved(before, latency)) {
            self.change(hop, before, outbox);
        }
    }
}

impl State {
    #[cold]
    fn change(&mut self, hop: &Sample<'_>, old: Nanos, outbox: &mut Outbox) {
        let (Some(&flow), Some(new)) = (hop.flow(), hop.reading.latency) else { return };
        let course = self.settings.course();
        let signs = self.signs.at(hop.port.place(), Signs::default);
        let Some(count) = signs.take(hop.now(), course) else { return };
        let (node_id, egress_interface) = hop.interface();
        let detail = LatencyChange { node_id, egress_interface, flow, old, new };
        let event = hop.warning(EventDetail::LatencyChange(detail));
        outbox.begin_counting(Event { count, severity: Severity::Info, ..event }, course, signs);
    }
}
