//! The resource budget of one question.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::question::{Limits, QueryError};

/// What one question has used, and its first error.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    begun: Instant,
    bytes: AtomicUsize,
    /// Whether nobody awaits the answer.
    stop: Arc<AtomicBool>,
    failure: Mutex<Option<QueryError>>,
}

impl Budget {
    #[cfg(test)]
    pub(crate) fn new(limits: Limits) -> Budget {
        Budget::until(limits, Arc::default())
    }

    /// The budget of a question that also ends when `stop` is set.
    pub(crate) fn until(limits: Limits, stop: Arc<AtomicBool>) -> Budget {
        let (begun, bytes, failure) = (Instant::now(), AtomicUsize::new(0), Mutex::new(None));
        Budget { limits, begun, bytes, stop, failure }
    }

    /// Whether the time is up, or nobody awaits the answer.
    pub(crate) fn is_late(&self) -> bool {
        self.stop.load(Ordering::Acquire) || self.begun.elapsed() > self.limits.time
    }

    /// Takes memory; `false` if that exceeds the limit.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        self.bytes.fetch_add(bytes, Ordering::AcqRel).saturating_add(bytes) <= self.limits.memory_bytes
    }

    /// Returns memory.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::AcqRel);
    }

    /// Whether this much memory is left.
    pub(crate) fn has(&self, bytes: usize) -> bool {
        self.bytes.load(Ordering::Acquire).saturating_add(bytes) <= self.limits.memory_bytes
    }

    /// Takes memory, or fails the question.
    pub(crate) fn demand(&self, bytes: usize) -> rusqlite::Result<()> {
        if self.take(bytes) { Ok(()) } else { Err(self.fail(QueryError::Memory(self.limits.memory_bytes))) }
    }

    /// Fails the question if its time is up.
    pub(crate) fn check_time(&self) -> rusqlite::Result<()> {
        if self.is_late() { Err(self.fail(QueryError::Time(self.limits.time))) } else { Ok(()) }
    }

    /// Records the first error; returns the error that stops SQLite.
    pub(crate) fn fail(&self, failure: QueryError) -> rusqlite::Error {
        let error = rusqlite::Error::ModuleError(failure.to_string());
        if let Ok(mut first) = self.failure.lock() {
            first.get_or_insert(failure);
        }
        error
    }

    pub(crate) fn take_failure(&self) -> Option<QueryError> {
        self.failure.lock().ok()?.take()
    }
}

/// Memory that is returned on drop.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Charge {
    pub(crate) fn new(budget: &Arc<Budget>) -> Self {
        Self { budget: Arc::clone(budget), bytes: 0 }
    }

    /// Takes more memory; `false` if that exceeds the limit.
    pub(crate) fn add(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        self.budget.take(bytes)
    }

    /// Takes this much memory in total; `false` if that exceeds the limit.
    pub(crate) fn set(&mut self, bytes: usize) -> bool {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.add(more),
            None => {
                self.budget.give_back(self.bytes - bytes);
                self.bytes = bytes;
                true
            }
        }
    }

    /// Takes over the memory of another charge.
    pub(crate) fn take_over(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}
