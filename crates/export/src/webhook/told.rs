//! What has somebody been told of that goes on?

use std::collections::BTreeMap;

use inband_model::{Event, EventId, Phase};

/// The events that go on, as they were told.
#[derive(Debug, Default)]
pub(super) struct Told {
    going_on: BTreeMap<EventId, Event>,
}

impl Told {
    /// An event with the severity under which its beginning was told: to Alertmanager an alert of another severity is
    /// another alert, and the first would never end.
    pub(super) fn as_it_was_told(&self, mut event: Event) -> Event {
        if let Some(begun) = self.going_on.get(&event.id()).filter(|_| event.phase == Phase::End) {
            event.severity = begun.severity;
        }
        event
    }

    /// Notes what was told, also where nobody took it: it is told again with what goes on.
    pub(super) fn note(&mut self, events: Vec<Event>) {
        for event in events {
            match event.phase {
                Phase::Begin if self.going_on.len() < MOST => {
                    self.going_on.insert(event.id(), event);
                }
                Phase::End => {
                    self.going_on.remove(&event.id());
                }
                Phase::Begin | Phase::Once => {}
            }
        }
    }

    /// What goes on.
    pub(super) fn going_on(&self) -> Vec<Event> {
        self.going_on.values().cloned().collect()
    }
}

/// Most events that are told again.
const MOST: usize = 4_096;
