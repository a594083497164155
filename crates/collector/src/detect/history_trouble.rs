//! Announcements that history is not being written, as reported by the owner of the store.

use inband_model::{Confidence, Event, EventDetail, EventKind, HistoryTrouble, Nanos, Phase, Severity};

use crate::book::Course;
use crate::outbox::Outbox;

use super::detector::{Common, Detector, NoSettings};

pub(crate) type Settings = NoSettings;

/// Whether history is being written, according to the last report.
#[derive(Debug)]
pub(crate) struct State {
    is_in_trouble: bool,
}

impl Detector for State {
    type Settings = Settings;

    fn new(_: &Settings, _: &Common) -> Self {
        Self { is_in_trouble: false }
    }

    /// Announces that the trouble begins or is over.
    fn handle_history(&mut self, now: Nanos, trouble: Option<&str>, outbox: &mut Outbox) {
        match (trouble, self.is_in_trouble) {
            (Some(why), false) => outbox.begin(event(now, why), Course::UNTIL_ENDED),
            (None, true) => outbox.calm(EventKind::HistoryTrouble, KEY, now),
            _ => {}
        }
        self.is_in_trouble = trouble.is_some();
    }
}

fn event(now: Nanos, why: &str) -> Event {
    Event {
        detail: EventDetail::HistoryTrouble(HistoryTrouble { why: why.to_owned() }),
        severity: Severity::Critical,
        key: KEY.to_owned(),
        first: now,
        last: now,
        count: 1,
        confidence: Confidence::Certain,
        evidence: Vec::new(),
        phase: Phase::Once,
        silenced: false,
        end_reason: None,
    }
}

/// The key is constant: there is one history.
const KEY: &str = "history";
