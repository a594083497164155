//! The silences of events.

use inband_model::{Event, Nanos, Silence};

/// The silences in force, at most [`MAX_SILENCES`], each with the number that lifts it.
#[derive(Debug, Default)]
pub(crate) struct Silences {
    silences: Vec<(u64, Silence)>,
    next: u64,
}

impl Silences {
    /// The silences of the configuration, in force from the start.
    pub(crate) fn new(silences: &[Silence]) -> Silences {
        let silences: Vec<_> = (0..).zip(silences.iter().take(MAX_SILENCES).cloned()).collect();
        Silences { next: silences.len() as u64, silences }
    }

    /// Adds a silence and returns its number; `None` when [`MAX_SILENCES`] are in force.
    pub(crate) fn add(&mut self, now: Nanos, silence: Silence) -> Option<u64> {
        self.silences.retain(|(_, silence)| silence.until.is_none_or(|until| until > now));
        if self.silences.len() >= MAX_SILENCES {
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.silences.push((number, silence));
        Some(number)
    }

    /// Restores a silence under its previous number, or under the next free one if that is taken.
    pub(crate) fn restore(&mut self, number: u64, silence: Silence) -> Option<u64> {
        if self.silences.len() >= MAX_SILENCES {
            return None;
        }
        let number = number.max(self.next);
        self.next = number + 1;
        self.silences.push((number, silence));
        Some(number)
    }

    /// Lifts a silence; false when no silence has this number.
    pub(crate) fn lift(&mut self, number: u64) -> bool {
        let before = self.silences.len();
        self.silences.retain(|(known, _)| *known != number);
        self.silences.len() < before
    }

    /// Whether a silence covers an event.
    pub(crate) fn cover(&self, event: &Event) -> bool {
        self.silences.iter().any(|(_, silence)| silence.covers(event))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Silence)> {
        self.silences.iter().map(|(number, silence)| (*number, silence))
    }
}

/// Maximum number of silences at the same time.
const MAX_SILENCES: usize = 1_024;
