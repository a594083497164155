//! Queries to the running collector.

use std::fmt;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use inband_collector::Collector;
use inband_export::Stage;
use inband_model::{ExportLedger, Ledger, LedgerView, Nanos, SocketLedger};
use thiserror::Error;

use crate::evidence::{Evidence, EvidenceCounts};
use crate::receive::{ReceptionCounts, Waker};
use crate::recent::Block;

/// A query: it reads the collector, and sends its answer itself.
pub(super) type Question = Box<dyn FnOnce(&mut Sight<'_>) + Send>;

/// The state that a query sees.
#[derive(Debug)]
pub struct Sight<'a> {
    /// The collector between two datagrams.
    pub collector: &'a mut Collector,
    /// The system time.
    pub now: Nanos,
    /// Counts of reception since the start.
    pub reception: ReceptionCounts,
    /// Changes of the system time since the start.
    pub clock: ClockView,
    /// Processor time of this thread since the start.
    pub processor: ProcessorTime,
    pub(super) stages: &'a [Box<dyn Stage>],
    pub(super) sockets: &'a [SocketLedger],
    pub(super) evidence: &'a Evidence,
}

/// Changes of the system time while the collector ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockView {
    /// Number of changes.
    pub steps: u64,
    /// By how much it was last set forward, nanoseconds; 0 if never.
    pub last_step_ns: i64,
}

/// Processor time of the thread that processes reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessorTime {
    /// That spent on reports, and on what they cause.
    pub reports: Duration,
    /// That spent on queries.
    pub queries: Duration,
}

/// A handle for queries, from any thread.
#[derive(Debug, Clone)]
pub struct Asker {
    questions: SyncSender<Question>,
    last: LastQuestions,
    waker: Waker,
}

/// Queries for the end of the collector.
#[derive(Clone, Default)]
pub(super) struct LastQuestions(Arc<Mutex<Vec<Question>>>);

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Unanswered {
    /// Too many queries are pending, or the answer took too long.
    #[error("the collector is busy")]
    Busy,
    /// The collector has stopped.
    #[error("the collector has stopped")]
    Stopped,
}

impl Sight<'_> {
    /// The ledger of all stages.
    #[must_use]
    pub fn ledger(&self) -> LedgerView {
        ledger(self.collector, self.stages, self.reception, self.sockets)
    }

    /// The totals of the ledger of all stages, without its streams.
    #[must_use]
    pub fn total(&self) -> Ledger {
        let mut total = self.collector.ledger();
        count_stages(&mut total, self.collector, self.stages, self.reception);
        total
    }

    /// Counts of reports that are evidence, by outcome.
    #[must_use]
    pub fn evidence(&self) -> EvidenceCounts {
        self.evidence.counts()
    }

    /// The newest datagrams, to be read on another thread.
    pub(crate) fn recent(&self) -> Vec<Arc<Block>> {
        self.evidence.recent.blocks()
    }
}

impl Asker {
    /// Queries for the thread that `waker` wakes.
    pub(super) fn new(questions: SyncSender<Question>, last: LastQuestions, waker: Waker) -> Asker {
        Asker { questions, last, waker }
    }

    /// Queues a query that runs once: when the last report is processed, before the outputs end. There
    /// are no answers after it.
    pub fn put_last(&self, question: impl FnOnce(&mut Sight<'_>) + Send + 'static) {
        self.last.add(Box::new(question));
    }

    /// Queues a query without waiting: it runs in its turn, and must send its answer itself.
    ///
    /// # Errors
    /// The query cannot be queued.
    pub fn put(&self, question: impl FnOnce(&mut Sight<'_>) + Send + 'static) -> Result<(), Unanswered> {
        self.questions.try_send(Box::new(question)).map_err(|error| match error {
            TrySendError::Full(_) => Unanswered::Busy,
            TrySendError::Disconnected(_) => Unanswered::Stopped,
        })?;
        self.waker.wake();
        Ok(())
    }

    /// Runs a query, and waits for the answer.
    ///
    /// # Errors
    /// There is no answer.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Sight<'_>) -> T + Send + 'static,
    ) -> Result<T, Unanswered> {
        let (sender, answer) = std::sync::mpsc::sync_channel(1);
        self.put(move |sight| {
            // The caller may have given up.
            let _ = sender.send(question(sight));
        })?;
        answer.recv_timeout(MAX_WAIT).map_err(|error| match error {
            std::sync::mpsc::RecvTimeoutError::Timeout => Unanswered::Busy,
            std::sync::mpsc::RecvTimeoutError::Disconnected => Unanswered::Stopped,
        })
    }
}

impl LastQuestions {
    fn add(&self, question: Question) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(question);
    }

    pub(super) fn take(&self) -> Vec<Question> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for LastQuestions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastQuestions").finish_non_exhaustive()
    }
}

/// The ledger of reception, collector and stages.
pub(super) fn ledger(
    collector: &Collector,
    stages: &[Box<dyn Stage>],
    reception: ReceptionCounts,
    sockets: &[SocketLedger],
) -> LedgerView {
    let mut view = collector.ledger_view();
    view.sockets = sockets.to_vec();
    view.exports = count_stages(&mut view.total, collector, stages, reception);
    view
}

/// Adds the counts of reception and of the stages; returns those of each output.
fn count_stages(
    total: &mut Ledger,
    collector: &Collector,
    stages: &[Box<dyn Stage>],
    reception: ReceptionCounts,
) -> Vec<ExportLedger> {
    total.refused = reception.refused;
    total.store_failed += collector.overflows().dropped_records;
    for stage in stages {
        stage.count(total);
    }
    let exports: Vec<ExportLedger> = stages.iter().filter_map(|stage| stage.export()).collect();
    total.exported = exports.iter().map(|export| export.exported).sum();
    total.export_failed = exports.iter().map(|export| export.export_failed).sum();
    exports
}

/// Maximum wait for an answer.
const MAX_WAIT: Duration = Duration::from_secs(5);
