//! The active events that are sent to Alertmanager.

use std::collections::BTreeMap;

use inband_model::{Event, EventId, Phase};

/// The active events, as they are sent.
#[derive(Debug, Default)]
pub(super) struct Told {
    going_on: BTreeMap<EventId, Event>,
}

impl Told {
    /// Records an event that is about to be sent, even if it is not accepted: active events are repeated.
    ///
    /// Returns it with the severity under which its beginning was sent: an alert of a different severity is a
    /// different alert, and the first would never end.
    pub(super) fn take(&mut self, mut event: Event) -> Event {
        if let Some(begun) = self.going_on.get(&event.id()).filter(|_| event.phase == Phase::End) {
            event.severity = begun.severity;
        }
        match event.phase {
            Phase::Begin if self.going_on.len() < MOST => {
                self.going_on.insert(event.id(), event.clone());
            }
            Phase::End => {
                self.going_on.remove(&event.id());
            }
            Phase::Begin | Phase::Once => {}
        }
        event
    }

    /// The active events.
    pub(super) fn going_on(&self) -> Vec<Event> {
        self.going_on.values().cloned().collect()
    }
}

/// Maximum events that are repeated.
const MOST: usize = 4_096;
