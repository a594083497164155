//! What has a question cost so far?

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::{Limits, QueryError};

/// The cost of one question, and what went wrong with it.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    begun: Instant,
    bytes: AtomicUsize,
    failure: Mutex<Option<QueryError>>,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Budget {
        Budget { limits, begun: Instant::now(), bytes: AtomicUsize::new(0), failure: Mutex::new(None) }
    }

    pub(crate) fn is_late(&self) -> bool {
        self.begun.elapsed() > self.limits.time
    }

    /// Takes memory; `false` when there is not so much.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        self.bytes.fetch_add(bytes, Ordering::AcqRel).saturating_add(bytes) <= self.limits.memory_bytes
    }

    /// Gives memory back.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::AcqRel);
    }

    /// Whether so much memory is left.
    pub(crate) fn has(&self, bytes: usize) -> bool {
        self.bytes.load(Ordering::Acquire).saturating_add(bytes) <= self.limits.memory_bytes
    }

    /// Takes memory, or fails the question.
    pub(crate) fn demand(&self, bytes: usize) -> rusqlite::Result<()> {
        if self.take(bytes) { Ok(()) } else { Err(self.fail(QueryError::Memory(self.limits.memory_bytes))) }
    }

    /// Fails the question when it is late.
    pub(crate) fn check_time(&self) -> rusqlite::Result<()> {
        if self.is_late() { Err(self.fail(QueryError::Time(self.limits.time))) } else { Ok(()) }
    }

    /// Notes what went wrong first, and gives the error that stops SQLite.
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
