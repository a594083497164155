//! The choice of events that are sent.

use std::collections::HashSet;

use inband_model::{Event, EventId, EventKind, Output, Phase, Severity};

use crate::delivery::{Choice, Chosen};

/// Chooses events of some kinds and of at least a severity, and the end of each whose beginning was sent.
#[derive(Debug)]
pub(crate) struct Wanted {
    severity: Severity,
    kinds: Vec<EventKind>,
    /// Active events whose beginning was sent.
    begun: HashSet<EventId>,
}

impl Wanted {
    pub(super) fn new(severity: Severity, kinds: &[EventKind]) -> Wanted {
        Wanted { severity, kinds: kinds.to_owned(), begun: HashSet::new() }
    }

    fn is_wanted(&mut self, event: &Event) -> bool {
        let fits = !event.silenced
            && event.severity >= self.severity
            && (self.kinds.is_empty() || self.kinds.contains(&event.kind()));
        match event.phase {
            Phase::Once => fits,
            Phase::Begin => {
                if fits && self.begun.len() < MAX_BEGUN {
                    self.begun.insert(event.id());
                }
                fits
            }
            // A receiver of the beginning also gets the end, even if the event has been silenced since.
            Phase::End => self.begun.remove(&event.id()) || fits,
        }
    }
}

impl Choice for Wanted {
    type Item = Box<Event>;

    fn choose(&mut self, output: &Output) -> Chosen<Box<Event>> {
        match output {
            Output::Event(event) if self.is_wanted(event) => Chosen::Deliver(Box::new(event.clone())),
            Output::Event(_) => Chosen::KeepBack,
            Output::Observation(_) => Chosen::Nothing,
        }
    }
}

/// Maximum active events that are remembered; the end of others is chosen by its own severity.
const MAX_BEGUN: usize = 65_536;

#[cfg(test)]
mod tests;
