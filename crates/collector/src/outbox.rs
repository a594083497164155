//! What has the collector to say?

use std::collections::VecDeque;

use inband_model::{Event, Observation};

/// What the collector gives out.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Something it concludes from reports.
    Observation(Observation),
    /// Something it announces.
    Event(Event),
}

/// Outputs that wait to be polled, oldest first; a full outbox drops and counts what comes next.
#[derive(Debug)]
pub(crate) struct Outbox {
    waiting: VecDeque<Output>,
    capacity: usize,
    dropped: u64,
}

impl Outbox {
    pub(crate) fn new(capacity: usize) -> Outbox {
        Outbox { waiting: VecDeque::new(), capacity, dropped: 0 }
    }

    pub(crate) fn push(&mut self, output: Output) {
        if self.waiting.len() >= self.capacity {
            self.dropped += 1;
            return;
        }
        self.waiting.push_back(output);
    }

    pub(crate) fn announce(&mut self, event: Event) {
        self.push(Output::Event(event));
    }

    pub(crate) fn pop(&mut self) -> Option<Output> {
        self.waiting.pop_front()
    }

    /// Outputs dropped because nobody polled in time.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}
