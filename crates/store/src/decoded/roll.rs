//! The roll-ups of a log that grows.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::part::LogPart;
use crate::roll_ups::{Counted, RollUps};

/// What is counted of a log, shared by questions.
#[derive(Debug, Default)]
pub(super) struct Rolling {
    state: Mutex<State>,
    bytes: AtomicUsize,
}

/// What is counted of a log, and the roll-ups of that.
#[derive(Debug, Default)]
struct State {
    counted: Counted,
    /// Parts of which all reports are counted, when the next one has begun.
    parts: usize,
    /// Reports of the part behind these that are counted.
    reports: usize,
    made: Option<Arc<RollUps>>,
}

impl Rolling {
    /// Bytes it takes in memory, about. Never waits for a question.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Acquire)
    }

    /// The roll-ups of these parts: of what is counted already, and what came since.
    pub(super) fn roll_ups(&self, parts: &[Arc<LogPart>]) -> Arc<RollUps> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.is_in(parts) {
            // A later question was quicker.
            drop(state);
            let mut own = State::default();
            own.count(parts);
            return Arc::new(own.counted.roll_ups());
        }
        state.count(parts);
        let made = state.made();
        self.bytes.store(state.bytes(), Ordering::Release);
        made
    }
}

impl State {
    /// The roll-ups are about as large as what they are made of.
    fn bytes(&self) -> usize {
        self.counted.bytes() * if self.made.is_some() { 2 } else { 1 }
    }

    /// Whether these parts hold all that is counted.
    fn is_in(&self, parts: &[Arc<LogPart>]) -> bool {
        let reports = parts.get(self.parts).map_or(0, |part| part.memory.hops.reports().len());
        self.parts < parts.len().max(1) && self.reports <= reports
    }

    fn count(&mut self, parts: &[Arc<LogPart>]) {
        for (index, part) in parts.iter().enumerate().skip(self.parts) {
            let hops = &part.memory.hops;
            let done = if index == self.parts { self.reports } else { 0 };
            if done < hops.reports().len() {
                self.counted.add(hops, done..hops.reports().len());
                self.made = None;
            }
            (self.parts, self.reports) = (index, hops.reports().len());
        }
    }

    fn made(&mut self) -> Arc<RollUps> {
        let Self { counted, made, .. } = self;
        Arc::clone(made.get_or_insert_with(|| Arc::new(counted.roll_ups())))
    }
}
