//! Notes for users.

use std::collections::VecDeque;
use std::error::Error;

/// The pending notes.
#[derive(Debug, Default)]
pub(super) struct Notes {
    waiting: VecDeque<String>,
    /// The last warning; it is not repeated in a row.
    last_warning: String,
}

/// Maximum number of pending notes; further ones are lost.
const MAX_NOTES: usize = 1000;

impl Notes {
    /// Notes something that has happened.
    pub(super) fn tell(&mut self, note: String) {
        if self.waiting.len() < MAX_NOTES {
            self.waiting.push_back(note);
        }
    }

    /// Notes something that does not work.
    pub(super) fn warn(&mut self, note: String) {
        if self.waiting.len() < MAX_NOTES && self.last_warning != note {
            self.last_warning.clone_from(&note);
            self.waiting.push_back(note);
        }
    }

    /// Takes the oldest note.
    pub(super) fn poll(&mut self) -> Option<String> {
        self.waiting.pop_front()
    }
}

/// An error with its causes.
pub(super) fn in_full(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(|cause| cause.to_string()).collect::<Vec<_>>().join(": ")
}
