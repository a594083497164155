//! The bursts of one queue: how long each was, and whether they follow one another.

use std::collections::VecDeque;

use inband_model::{
    BurstClass, Confidence, Event, EventDetail, Microburst, MicroburstStorm, Nanos, Phase, ReportReference,
    Severity,
};

use crate::book::Course;
use crate::detect::congestion::{CongestionStep, Departure};
use crate::outbox::Outbox;
use crate::ports::Place;

use super::settings::MicroburstSettings;

/// The current burst of a queue, and when the previous ones began.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    burst: Option<Burst>,
    /// When the latest microbursts were seen, by the collector's clock; at most [`MAX_IN_STORM`].
    seen_at: VecDeque<Nanos>,
}

/// Congested packets close to one another.
#[derive(Debug)]
struct Burst {
    first: ReportReference,
    last: ReportReference,
    reports: u64,
    /// Whether the node itself reported the congestion of the last packet.
    last_is_queue_report: bool,
    /// When its first packet arrived and its last one left, by the node's clock if reported, else by the
    /// collector's.
    began_at: u64,
    ended_at: u64,
    peak_latency: Option<Nanos>,
    peak_occupancy: Option<u32>,
}

impl Bursts {
    /// Records a report of a congested queue.
    pub(super) fn record(
        &mut self,
        settings: &MicroburstSettings,
        step: &CongestionStep,
        departure: &Departure,
        outbox: &mut Outbox,
    ) {
        let (began_at, ended_at) = (departure.came_at, departure.left_at);
        let is_apart = self.burst.as_ref().is_some_and(|burst| burst.is_apart(settings, departure));
        if is_apart {
            self.close(settings, step, outbox);
        }
        let burst = self.burst.get_or_insert(Burst {
            first: departure.report,
            last: departure.report,
            reports: 0,
            last_is_queue_report: false,
            began_at,
            ended_at,
            peak_latency: None,
            peak_occupancy: None,
        });
        burst.last = departure.report;
        burst.reports += 1;
        burst.last_is_queue_report = departure.is_queue_report;
        burst.began_at = burst.began_at.min(began_at);
        burst.ended_at = burst.ended_at.max(ended_at);
        burst.peak_latency = burst.peak_latency.max(departure.latency);
        burst.peak_occupancy = burst.peak_occupancy.max(departure.occupancy);
    }

    /// Ends the current burst and judges it. How long it was is unknown where its reports were cut short, and
    /// after a single report of a sample.
    pub(super) fn close(
        &mut self,
        settings: &MicroburstSettings,
        step: &CongestionStep,
        outbox: &mut Outbox,
    ) {
        let CongestionStep { place, units, utilization, is_truncated, is_silence, .. } = *step;
        let Some(burst) = self.burst.take() else { return };
        if is_truncated || (is_silence && burst.is_one_of_a_sample()) {
            return;
        }
        let duration = Nanos(burst.ended_at.saturating_sub(burst.began_at));
        let full = u64::from(units.utilization_full.unwrap_or(settings.full_utilization));
        let is_busy =
            utilization.is_some_and(|level| u64::from(level) * 1_000 >= full * settings.busy_permille);
        if duration.0 > settings.most_ns || is_busy {
            return;
        }
        let seen_at = burst.last.received_at;
        self.seen_at.push_back(seen_at);
        while self.seen_at.front().is_some_and(|at| seen_at.since(*at) > SECOND)
            || self.seen_at.len() > MAX_IN_STORM
        {
            self.seen_at.pop_front();
        }
        if self.seen_at.len() >= settings.storm.clamp(1, MAX_IN_STORM) {
            let storm = self.storm(place, &burst, utilization);
            return outbox.begin(storm, Course::until_quiet(SECOND));
        }
        outbox.announce(burst.event(place, duration, utilization));
    }

    fn storm(&self, place: Place, burst: &Burst, utilization: Option<u32>) -> Event {
        let detail = MicroburstStorm {
            node_id: place.node_id,
            egress_interface: place.egress_interface,
            queue_id: place.queue_id,
            bursts: self.seen_at.len() as u64,
        };
        Event {
            detail: EventDetail::MicroburstStorm(detail),
            severity: Severity::Warning,
            count: burst.reports,
            ..burst.event(place, Nanos::ZERO, utilization)
        }
    }
}

impl Burst {
    /// Whether the queue was calm between the last packet and this one.
    ///
    /// A gap between queue reports shows it. Other reports are a sample: a gap between them shows nothing.
    fn is_apart(&self, settings: &MicroburstSettings, departure: &Departure) -> bool {
        let join = self.peak_latency.map_or(0, |latency| latency.0).max(settings.join_ns);
        let is_gap = departure.came_at > self.ended_at.saturating_add(join);
        is_gap && self.last_is_queue_report && departure.is_queue_report
    }

    /// Whether it is a single report that the node did not send because of the congestion.
    fn is_one_of_a_sample(&self) -> bool {
        self.reports == 1 && !self.last_is_queue_report
    }

    fn event(&self, place: Place, duration: Nanos, utilization: Option<u32>) -> Event {
        let detail = Microburst {
            node_id: place.node_id,
            egress_interface: place.egress_interface,
            queue_id: place.queue_id,
            duration,
            class: class(duration),
            peak_latency: self.peak_latency,
            peak_occupancy: self.peak_occupancy,
            utilization,
        };
        let mut evidence = vec![self.first];
        if self.last != self.first {
            evidence.push(self.last);
        }
        Event {
            detail: EventDetail::Microburst(detail),
            severity: Severity::Info,
            key: place.key(),
            first: self.first.received_at,
            last: self.last.received_at,
            count: self.reports,
            // Without the utilisation, the link may have been busy.
            confidence: if utilization.is_some() { Confidence::Probable } else { Confidence::Possible },
            evidence,
            phase: Phase::Once,
            silenced: false,
            end_reason: None,
        }
    }
}

fn class(duration: Nanos) -> BurstClass {
    match duration.0 {
        0..=100_000 => BurstClass::Micros100,
        100_001..=1_000_000 => BurstClass::Millis1,
        1_000_001..=10_000_000 => BurstClass::Millis10,
        _ => BurstClass::Longer,
    }
}

const SECOND: Nanos = Nanos::from_secs(1);
/// Maximum number of microbursts remembered for a queue.
const MAX_IN_STORM: usize = 64;
