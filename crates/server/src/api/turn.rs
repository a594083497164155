//! Permits to query history: a query keeps its permit until it ends, and stops soon when its caller has gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use inband_store::QueryError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::Problem;
use crate::archive::{Archive, Snapshot};

/// A permit, moved into the closure that queries.
#[derive(Debug)]
pub(super) struct Turn {
    stop: Arc<AtomicBool>,
    _permit: OwnedSemaphorePermit,
}

/// Stops the query on drop, as its answer is not awaited then.
#[derive(Debug)]
pub(super) struct Caller(Arc<AtomicBool>);

/// Waits for a permit.
pub(super) async fn turn(queries: &Arc<Semaphore>) -> Result<(Turn, Caller), Problem> {
    let permit = tokio::time::timeout(MAX_WAIT, Arc::clone(queries).acquire_owned()).await;
    let permit = permit.ok().and_then(Result::ok);
    let permit = permit.ok_or_else(|| Problem::unavailable("other questions are being answered"))?;
    let stop = Arc::new(AtomicBool::new(false));
    Ok((Turn { stop: Arc::clone(&stop), _permit: permit }, Caller(stop)))
}

impl Turn {
    /// History at this moment, for as long as the caller awaits the answer.
    ///
    /// # Errors
    /// History cannot be read.
    pub(super) fn snapshot(&self, archive: &dyn Archive) -> Result<Box<dyn Snapshot>, QueryError> {
        let mut history = archive.snapshot().map_err(QueryError::Store)?;
        history.stop_when(Arc::clone(&self.stop));
        Ok(history)
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Maximum wait for other queries.
const MAX_WAIT: Duration = Duration::from_secs(5);
