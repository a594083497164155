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

    /// Gives out an observation. Half of the room is kept for events, which are fewer and matter more.
    pub(crate) fn observe(&mut self, observation: Observation) {
        self.push(Output::Observation(observation), self.capacity / 2);
    }

    /// Gives out an event.
    pub(crate) fn announce(&mut self, event: Event) {
        self.push(Output::Event(event), self.capacity);
    }

    fn push(&mut self, output: Output, capacity: usize) {
        if self.waiting.len() >= capacity {
            self.dropped += 1;
            return;
        }
        self.waiting.push_back(output);
    }

    pub(crate) fn pop(&mut self) -> Option<Output> {
        self.waiting.pop_front()
    }

    /// Outputs dropped because nobody polled in time.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests;
