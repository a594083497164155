//! An episode of congestion: when it begins, continues and ends.

use inband_model::{
    Confidence, CongestionPhase, EndReason, Event, EventDetail, Nanos, NodeUnits, Phase, QueueCongestion,
    ReportReference, Severity,
};

use crate::ports::{Place, Sample};

use super::settings::CongestionSettings;

/// An episode of congestion that has not ended.
#[derive(Debug)]
pub(super) struct Episode {
    first: ReportReference,
    last: ReportReference,
    /// When it was last announced; `None`: not yet.
    announced_at: Option<Nanos>,
    reports: u64,
    queue_reports: u64,
    /// Queue reports since the queue was last calm, from when on a node counts its quota anew.
    since_calm: u64,
    quota: u64,
    /// Whether the quota was ever used up.
    is_truncated: bool,
    peak_latency: Option<Nanos>,
    peak_occupancy: Option<u32>,
    utilization: Option<u32>,
    /// Number of episodes announced as this one.
    episodes: u64,
    /// Whether the queue is congested repeatedly, so that a calm moment is not yet the end.
    is_recurring: bool,
    /// Since when a recurring episode has been calm, and what shows it; `None`: it is congested.
    calm: Option<(Nanos, EndReason)>,
}

impl Episode {
    /// Begins an episode with a report that shows congestion.
    pub(super) fn begin(settings: &CongestionSettings, sample: &Sample<'_>, is_recurring: bool) -> Self {
        let mut episode = Self {
            first: sample.report(),
            last: sample.report(),
            announced_at: None,
            reports: 0,
            queue_reports: 0,
            since_calm: 0,
            is_truncated: false,
            quota: settings.quota,
            peak_latency: None,
            peak_occupancy: None,
            utilization: None,
            episodes: 1,
            is_recurring,
            calm: None,
        };
        episode.take(sample);
        episode
    }

    /// Whether a report shows congestion.
    #[inline]
    pub(super) fn is_congested(settings: &CongestionSettings, units: NodeUnits, sample: &Sample<'_>) -> bool {
        sample.congested_queue() || exceeds(settings, units, sample)
    }

    /// Handles the next report; false when it shows that the episode has ended.
    ///
    /// Where the node itself reports congestion (Q), only the node knows its thresholds: reports without Q
    /// prove nothing, and the episode ends by silence.
    pub(super) fn goes_on(
        &mut self,
        settings: &CongestionSettings,
        units: NodeUnits,
        sample: &Sample<'_>,
    ) -> bool {
        if Episode::is_congested(settings, units, sample) {
            let was_calm = self.calm.take().is_some() || self.quiet_at(settings) <= sample.now();
            if was_calm {
                self.episodes += 1;
                self.since_calm = 0;
            }
            self.take(sample);
            return true;
        }
        if self.calm.is_some() {
            return false;
        }
        if self.queue_reports > 0 {
            return true;
        }
        if is_calm(settings, units, sample) {
            return false;
        }
        self.take(sample);
        true
    }

    /// Records that the queue has been calm since a time, as a report or silence shows; returns whether that
    /// ends the episode.
    pub(super) fn calm_down(&mut self, since: Nanos, reason: EndReason) -> bool {
        self.calm.get_or_insert((since, reason));
        !self.is_recurring
    }

    /// Since when the queue has been calm, and what shows it; `None`: it is congested.
    pub(super) fn calm(&self) -> Option<(Nanos, EndReason)> {
        self.calm
    }

    /// When the queue counts as calm if no further report arrives.
    pub(super) fn quiet_at(&self, settings: &CongestionSettings) -> Nanos {
        self.last.received_at + settings.quiet()
    }

    /// When a calm recurring episode ends, and any other counts as calm.
    pub(super) fn due(&self, settings: &CongestionSettings) -> Nanos {
        self.calm.map_or(self.quiet_at(settings), |(since, _)| since + settings.recurring_quiet())
    }

    /// Whether the node has used up its quota of queue reports since the queue was last calm.
    pub(super) fn is_cut_short(&self) -> bool {
        self.since_calm >= self.quota.max(1)
    }

    /// Mean utilisation of the interface over a second, latest known value.
    pub(super) fn utilization(&self) -> Option<u32> {
        self.utilization
    }

    /// Records the mean utilisation of the interface.
    pub(super) fn note_utilization(&mut self, utilization: Option<u32>) {
        self.utilization = utilization.or(self.utilization);
    }

    /// When its last report arrived.
    pub(super) fn last_at(&self) -> Nanos {
        self.last.received_at
    }

    /// Whether the beginning is to be announced, or what has been reported since.
    pub(super) fn is_announcement_due(&self) -> bool {
        self.announced_at.is_none_or(|at| self.last.received_at.since(at) >= ANNOUNCED_EVERY)
    }

    /// Announces the beginning, and later the episode so far.
    pub(super) fn announce(&mut self, place: Place) -> Event {
        self.announced_at = Some(self.last.received_at);
        self.event(place, CongestionPhase::Begin, self.last.received_at)
    }

    /// Announces the end, shown by the report of `last`.
    pub(super) fn end(&self, place: Place, last: Nanos) -> Event {
        self.event(place, CongestionPhase::End, last)
    }

    fn take(&mut self, sample: &Sample<'_>) {
        self.last = sample.report();
        self.reports += 1;
        self.queue_reports += u64::from(sample.congested_queue());
        self.since_calm += u64::from(sample.congested_queue());
        self.is_truncated |= self.is_cut_short();
        self.peak_latency = self.peak_latency.max(sample.reading.latency);
        self.peak_occupancy = self.peak_occupancy.max(sample.reading.queue().map(|queue| queue.occupancy));
    }

    fn event(&self, place: Place, phase: CongestionPhase, last: Nanos) -> Event {
        let detail = QueueCongestion {
            node_id: place.node_id,
            egress_interface: place.egress_interface,
            queue_id: place.queue_id,
            phase,
            peak_latency: self.peak_latency,
            peak_occupancy: self.peak_occupancy,
            truncated: self.is_truncated,
            episodes: self.episodes,
        };
        let mut evidence = vec![self.first];
        if self.last != self.first {
            evidence.push(self.last);
        }
        Event {
            detail: EventDetail::QueueCongestion(detail),
            severity: if phase == CongestionPhase::Begin { Severity::Warning } else { Severity::Info },
            key: place.key(),
            first: self.first.received_at,
            last,
            count: self.reports,
            confidence: if self.queue_reports > 0 { Confidence::Certain } else { Confidence::Probable },
            evidence,
            phase: Phase::Once,
            silenced: false,
            end_reason: None,
        }
    }
}

/// How often the state of an episode is announced.
const ANNOUNCED_EVERY: Nanos = Nanos::from_secs(1);

#[inline]
fn exceeds(settings: &CongestionSettings, units: NodeUnits, sample: &Sample<'_>) -> bool {
    let latency = sample.reading.latency.is_some_and(|latency| latency.0 > settings.trigger_ns);
    if latency {
        return true;
    }
    // Occupancy counts only where there is a trigger, and bytes only of a node whose unit is known.
    let depth = settings.trigger_occupancy.zip(sample.reading.queue());
    let bytes = settings.trigger_bytes.zip(sample.reading.queue());
    let bytes = bytes.and_then(|(trigger, queue)| Some((trigger, units.queue_bytes(queue.occupancy)?)));
    depth.is_some_and(|(trigger, queue)| queue.occupancy > trigger)
        || bytes.is_some_and(|(trigger, bytes)| bytes > trigger)
}

/// Whether a report shows a queue below all thresholds that apply to its end.
fn is_calm(settings: &CongestionSettings, units: NodeUnits, sample: &Sample<'_>) -> bool {
    let latency = sample.reading.latency.map(|latency| latency < settings.reset_latency());
    let calm_occupancy = settings.calm_occupancy().zip(sample.reading.queue());
    let occupancy = calm_occupancy.map(|(calm, queue)| queue.occupancy < calm);
    let calm_bytes = settings.calm_bytes().zip(sample.reading.queue());
    let bytes = calm_bytes.and_then(|(calm, queue)| Some(units.queue_bytes(queue.occupancy)? < calm));
    let known = [latency, occupancy, bytes];
    known.iter().any(Option::is_some) && !known.contains(&Some(false))
}
