//! Which new flows are announced?

use inband_model::{
    Confidence, Event, EventDetail, Flow, Nanos, NewFlow, Path, Phase, ReportReference, Severity,
};

use super::settings::NewFlowSettings;

/// Counts new flows, so that not more are announced in a second than somebody can read.
#[derive(Debug)]
pub(super) struct Newcomers {
    settings: NewFlowSettings,
    second_began_at: Nanos,
    in_this_second: u64,
    unannounced: u64,
}

impl Newcomers {
    pub(super) fn new(settings: NewFlowSettings) -> Newcomers {
        Newcomers { settings, second_began_at: Nanos::ZERO, in_this_second: 0, unannounced: 0 }
    }

    /// Announces a flow whose path is known for the first time; `None` when there are too many.
    pub(super) fn welcome(&mut self, report: ReportReference, flow: Flow, path: &Path) -> Option<Event> {
        let now = report.received_at;
        if now.since(self.second_began_at) >= Nanos::from_secs(1) {
            (self.second_began_at, self.in_this_second) = (now, 0);
        }
        if self.in_this_second >= self.settings.per_second {
            self.unannounced += 1;
            return None;
        }
        self.in_this_second += 1;
        let unannounced = std::mem::take(&mut self.unannounced);
        Some(Event {
            detail: EventDetail::NewFlow(NewFlow { flow, path: Some(path.clone()), unannounced }),
            severity: Severity::Info,
            key: flow.to_string(),
            first: now,
            last: now,
            count: 1,
            confidence: Confidence::Certain,
            evidence: vec![report],
            phase: Phase::Once,
            silenced: false,
            end_reason: None,
        })
    }
}
