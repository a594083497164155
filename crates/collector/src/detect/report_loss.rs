//! Streams whose report loss exceeds a limit.

mod settings;
mod window;

use inband_model::{Confidence, Event, EventDetail, Nanos, Phase, ReportLoss, ReportReference, Severity};

use crate::book::Signs;
use crate::ledger::StreamKey;
use crate::outbox::Outbox;

pub use self::settings::LossSettings;

use self::window::{LossWindow, Slice};
use super::detector::Elsewhere;

pub(crate) type Settings = LossSettings;
/// The state is kept by the streams.
pub(crate) type State = Elsewhere<Settings>;

/// The recent losses of a stream.
#[derive(Debug)]
pub(crate) struct StreamLosses {
    opened_at: Nanos,
    recent: LossWindow,
    last_gap: Option<ReportReference>,
    signs: Signs,
}

/// A stream whose loss exceeds the limit.
#[derive(Debug)]
pub(crate) struct Alert {
    recent: Slice,
    evidence: Option<ReportReference>,
}

impl StreamLosses {
    /// The losses of a stream that begins at `now`.
    pub(crate) fn new(now: Nanos) -> Self {
        Self { opened_at: now, recent: LossWindow::default(), last_gap: None, signs: Signs::default() }
    }

    /// Records the first report after a gap.
    pub(crate) fn note_gap(&mut self, report: ReportReference) {
        self.last_gap = Some(report);
    }

    /// Records an accepted report.
    #[inline]
    pub(crate) fn note_accepted(&mut self, settings: &LossSettings, now: Nanos) {
        self.recent.at(now, settings.window()).accepted += 1;
    }

    /// Records the changes of the known and unknown losses.
    pub(crate) fn note(
        &mut self,
        settings: &LossSettings,
        now: Nanos,
        (lost, unknown): (u64, u64),
        (lost_now, unknown_now): (u64, u64),
    ) {
        let slice = self.recent.at(now, settings.window());
        slice.lost = (slice.lost + lost_now).saturating_sub(lost);
        slice.lost_unknown += unknown_now - unknown;
    }

    /// Returns an alert when the loss exceeds the limit, at a limited rate.
    pub(crate) fn alert(&mut self, settings: &LossSettings, now: Nanos) -> Option<Alert> {
        let window = settings.window();
        if !self.signs.are_due(now, settings.course()) {
            return None;
        }
        self.recent.at(now, window);
        let recent = self.recent.sum();
        let covered = now.since(self.opened_at).min(window);
        if !recent.exceeds(settings.share_ppm, covered, window) {
            return None;
        }
        self.signs.announce(now);
        Some(Alert { recent, evidence: self.last_gap })
    }

    /// When the first window is full, if that is in the future and reports are lost.
    pub(crate) fn full_window_at(&self, settings: &LossSettings, now: Nanos) -> Option<Nanos> {
        let full_at = self.opened_at + settings.window();
        (full_at > now && self.recent.sum().lost > 0).then_some(full_at)
    }
}

impl Alert {
    /// Announces that the loss of a stream exceeds the limit.
    pub(crate) fn announce(
        &self,
        settings: &LossSettings,
        stream: &StreamKey,
        now: Nanos,
        outbox: &mut Outbox,
    ) {
        outbox.begin(self.event(settings, stream, now), settings.course());
    }

    fn event(&self, settings: &LossSettings, stream: &StreamKey, now: Nanos) -> Event {
        let detail = ReportLoss {
            node_id: stream.node_id,
            hw_id: stream.hw_id,
            session: stream.session,
            lost: self.recent.lost,
            accepted: self.recent.accepted,
            lost_unknown: self.recent.lost_unknown,
            window: settings.window(),
        };
        Event {
            detail: EventDetail::ReportLoss(detail),
            severity: Severity::Warning,
            key: stream.event_key(),
            first: self.evidence.map_or(now, |report| report.received_at),
            last: now,
            count: self.recent.lost + self.recent.lost_unknown,
            confidence: if self.recent.lost_unknown > 0 { Confidence::Probable } else { Confidence::Certain },
            evidence: self.evidence.into_iter().collect(),
            phase: Phase::Once,
            silenced: false,
            end_reason: None,
        }
    }
}
