//! Scheduled events in order of time, those of equal time in the order they were scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::Nanos;

#[cfg(test)]
mod tests;

/// A priority queue of events, bounded by what its user schedules: in the fabric one event for each frame on
/// a link, for each sending port and for each timer.
#[derive(Debug)]
pub(crate) struct EventQueue<E> {
    heap: BinaryHeap<Reverse<Scheduled<E>>>,
    scheduled: u64,
}

impl<E> EventQueue<E> {
    pub(crate) fn new() -> EventQueue<E> {
        EventQueue { heap: BinaryHeap::new(), scheduled: 0 }
    }

    /// Schedules `event` at time `at`, after everything already scheduled for it.
    pub(crate) fn schedule(&mut self, at: Nanos, event: E) {
        self.heap.push(Reverse(Scheduled { at, order: self.scheduled, event }));
        self.scheduled += 1;
    }

    /// The next event due at `until` or earlier, with its time.
    pub(crate) fn pop_until(&mut self, until: Nanos) -> Option<(Nanos, E)> {
        if self.heap.peek()?.0.at > until {
            return None;
        }
        self.heap.pop().map(|Reverse(next)| (next.at, next.event))
    }

    /// All pending events, in no particular order.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &E> {
        self.heap.iter().map(|Reverse(scheduled)| &scheduled.event)
    }
}

#[derive(Debug)]
struct Scheduled<E> {
    at: Nanos,
    order: u64,
    event: E,
}

impl<E> Ord for Scheduled<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<E> Eq for Scheduled<E> {}
