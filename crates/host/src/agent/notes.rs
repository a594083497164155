//! What may users want to know?

use std::collections::VecDeque;
use std::error::Error;

/// What waits to be told.
#[derive(Debug, Default)]
pub(super) struct Notes {
    waiting: VecDeque<String>,
    /// The last that told of what does not work; it is not told twice in a row.
    last_warning: String,
}

/// Most notes that wait; one that has no place is lost.
const MAX_NOTES: usize = 1000;

impl Notes {
    /// Tells of something that has happened.
    pub(super) fn tell(&mut self, note: String) {
        if self.waiting.len() < MAX_NOTES {
            self.waiting.push_back(note);
        }
    }

    /// Tells of something that does not work.
    pub(super) fn warn(&mut self, note: String) {
        if self.waiting.len() < MAX_NOTES && self.last_warning != note {
            self.last_warning.clone_from(&note);
            self.waiting.push_back(note);
        }
    }

    /// Takes the oldest.
    pub(super) fn poll(&mut self) -> Option<String> {
        self.waiting.pop_front()
    }
}

/// An error with what is behind it.
pub(super) fn in_full(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(|cause| cause.to_string()).collect::<Vec<_>>().join(": ")
}
