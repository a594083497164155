//! The choice of events that are sent.

use std::collections::HashSet;

use inband_model::{Event, EventId, EventKind, Output, Phase, Severity};

use crate::delivery::{Choice, Chosen};

/// Chooses events of some kinds and of at least a severity, and the end of each whose beginning was sent.
#[derive(Debug)]
pub(crate) struct Wanted {
    severity: Severity,
    kinds: Vec<EventKind>,
    /// Active events whose beginning was sent or is queued.
    begun: HashSet<EventId>,
}

impl Wanted {
    pub(super) fn new(severity: Severity, kinds: &[EventKind]) -> Wanted {
        Wanted { severity, kinds: kinds.to_owned(), begun: HashSet::new() }
    }

    fn is_wanted(&self, event: &Event) -> bool {
        !event.silenced
            && event.severity >= self.severity
            && (self.kinds.is_empty() || self.kinds.contains(&event.kind()))
    }
}

impl Choice for Wanted {
    type Item = Box<Event>;

    fn choose(&mut self, output: &Output) -> Chosen<Box<Event>> {
        let Output::Event(event) = output else { return Chosen::Nothing };
        // A receiver of the beginning also gets the end, even if the event has been silenced since or the queue
        // is full: else an alert would never end.
        if event.phase == Phase::End && self.begun.remove(&event.id()) {
            return Chosen::DeliverAlways(Box::new(event.clone()));
        }
        if !self.is_wanted(event) {
            return Chosen::KeepBack;
        }
        if event.phase == Phase::Begin && self.begun.len() < MAX_BEGUN {
            self.begun.insert(event.id());
        }
        Chosen::Deliver(Box::new(event.clone()))
    }

    fn handle_turned_away(&mut self, event: Box<Event>) {
        if event.phase == Phase::Begin {
            self.begun.remove(&event.id());
        }
    }
}

/// Maximum active events that are remembered; the end of others is chosen by its own severity.
const MAX_BEGUN: usize = 65_536;

#[cfg(test)]
mod tests;
