//! The outputs of the collector that wait to be polled.

use std::collections::VecDeque;

use inband_model::{EndReason, Event, EventKind, Nanos, Observation, Output};

use crate::book::{Book, Course, Signs};

/// Outputs that wait to be polled, oldest first; a full outbox drops and counts further ones.
///
/// Every event passes the book, which tracks the active ones.
#[derive(Debug)]
pub(crate) struct Outbox {
    waiting: VecDeque<Output>,
    capacity: usize,
    dropped: u64,
    pub(crate) book: Book,
}

impl Outbox {
    pub(crate) fn new(capacity: usize, book: Book) -> Self {
        Self { waiting: VecDeque::new(), capacity, dropped: 0, book }
    }

    /// Adds an observation. Half of the room is kept for events, which are fewer and matter more.
    pub(crate) fn observe(&mut self, observation: Observation) {
        let observation = self.book.timeline.observation(observation);
        self.push(Output::Observation(observation), self.capacity / 2);
    }

    /// Adds an event that has no course.
    pub(crate) fn announce(&mut self, event: Event) {
        let event = self.book.once(event);
        self.push(Output::Event(event), self.capacity);
    }

    /// Adds the begin of an event, unless it is already active.
    pub(crate) fn begin(&mut self, event: Event, course: Course) {
        if let Some(event) = self.book.begin(event, course) {
            self.push(Output::Event(event), self.capacity);
        }
    }

    /// Adds the begin of an event, unless it is already active; `signs` counts its signs, of which only some
    /// are announced.
    pub(crate) fn begin_counting(&mut self, event: Event, course: Course, signs: &mut Signs) {
        if let Some(event) = self.book.begin_counting(event, course, signs) {
            self.push(Output::Event(event), self.capacity);
        }
    }

    /// Adds the end of an event, for a reason.
    pub(crate) fn end(&mut self, event: Event, reason: EndReason) {
        let event = self.book.end(event, reason);
        self.push(Output::Event(event), self.capacity);
    }

    /// Records that the cause of an event is over: its end follows unless another sign of it comes soon.
    pub(crate) fn calm(&mut self, kind: EventKind, key: &str, now: Nanos) {
        self.book.calm(kind, key, now);
    }

    /// Whether an event is active.
    pub(crate) fn is_active(&self, kind: EventKind, key: &str) -> bool {
        self.book.is_active(kind, key)
    }

    /// The count of an event so far; 0 when it is not active.
    pub(crate) fn active_count(&self, kind: EventKind, key: &str) -> u64 {
        self.book.active_count(kind, key)
    }

    /// Adds the end of all active events, because the collector ends.
    pub(crate) fn end_run(&mut self, now: Nanos) {
        for event in self.book.end_run(now) {
            self.push(Output::Event(event), self.capacity);
        }
    }

    /// Ends the events whose quiet time is over.
    pub(crate) fn handle_timeout(&mut self, now: Nanos) {
        self.book.count_unannounced(now);
        while let Some(event) = self.book.next_ended(now) {
            self.push(Output::Event(event), self.capacity);
        }
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

    /// Outputs dropped because they were not polled in time.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests;
