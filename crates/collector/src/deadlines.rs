//! A queue of deadlines.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use inband_model::Nanos;

/// Items to check when their time has come, earliest first.
///
/// A deadline is a reminder: the receiver checks whether there is still something to do.
#[derive(Debug)]
pub(crate) struct Deadlines<T> {
    heap: BinaryHeap<Reverse<(Nanos, T)>>,
}

impl<T: Ord> Deadlines<T> {
    pub(crate) fn new() -> Deadlines<T> {
        Deadlines { heap: BinaryHeap::new() }
    }

    /// Sets a deadline.
    pub(crate) fn set(&mut self, due: Nanos, thing: T) {
        self.heap.push(Reverse((due, thing)));
    }

    /// Removes and returns an item whose time has come.
    pub(crate) fn pop_due(&mut self, now: Nanos) -> Option<T> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse((_, thing))| thing)
    }

    /// The earliest deadline.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse((due, _))| *due)
    }

    /// Drops the deadlines of items that no longer exist.
    pub(crate) fn retain(&mut self, is_there: impl Fn(&T) -> bool) {
        self.heap.retain(|Reverse((_, thing))| is_there(thing));
    }

    /// Number of deadlines set.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }
}
