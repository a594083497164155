//! The stage that stores reports, paths and events without waiting for a disk.

use std::sync::Arc;

use inband_collector::Output;
use inband_model::{HopColumns, Ledger, LedgerView, Nanos, Observation, ReportBytes};
use inband_store::{Batch, Store};

use inband_export::Stage;

/// The stage that passes everything to the store, in batches. The store counts what it has no room for.
#[derive(Debug)]
pub struct Keep {
    store: Arc<Store>,
    /// Whether it waits for room in the store, as in a replay.
    waits: bool,
    batch: Batch,
    /// When the first entry was added to `batch`.
    since: Option<Nanos>,
    now: Nanos,
    /// When the ledger was last stored.
    ledger_at: Nanos,
}

impl Keep {
    /// Stores history in `store`.
    #[must_use]
    pub fn new(store: Arc<Store>) -> Keep {
        let (batch, now, ledger_at) = (Batch::default(), Nanos::ZERO, Nanos::ZERO);
        Keep { store, waits: false, batch, since: None, now, ledger_at }
    }

    /// Stores what a replay reads, and waits for the store: a file can wait.
    #[must_use]
    pub fn for_replay(store: Arc<Store>) -> Keep {
        Keep { waits: true, ..Keep::new(store) }
    }

    fn put(&mut self, put: impl FnOnce(&mut Batch)) {
        put(&mut self.batch);
        self.since.get_or_insert(self.now);
    }

    /// Passes the batch to the store, waiting for room or not.
    fn hand_over(&mut self, waits: bool) {
        self.since = None;
        if !self.batch.is_empty() {
            let next = Batch { hops: self.store.columns(), ..Batch::default() };
            let batch = std::mem::replace(&mut self.batch, next);
            // The store's tally counts what is shed.
            let _ = if waits { self.store.put(batch) } else { self.store.offer(batch) };
        }
    }
}

impl Stage for Keep {
    fn handle_output(&mut self, output: &Output) {
        match output {
            Output::Observation(Observation::Path(path)) => {
                let path = path.clone();
                self.put(|batch| batch.paths.push(path));
            }
            // The hops contain every latency and depth.
            Output::Observation(_) => {}
            Output::Event(event) => {
                let event = event.clone();
                self.put(|batch| batch.events.push(event));
            }
        }
    }

    fn wants_evidence(&self) -> bool {
        true
    }

    fn handle_evidence(&mut self, reports: &[ReportBytes]) {
        self.put(|batch| batch.evidence.extend_from_slice(reports));
    }

    fn wants_hops(&self) -> bool {
        true
    }

    fn handle_hops(&mut self, hops: &HopColumns, reports: u64) {
        self.put(|batch| {
            batch.hops.append(hops);
            batch.reports += reports;
        });
        if self.batch.hops.len() >= MAX_HOPS {
            self.hand_over(self.waits);
        }
    }

    fn wants_ledger(&self, now: Nanos) -> bool {
        now.since(self.ledger_at) >= LEDGER_EVERY
    }

    fn handle_ledger(&mut self, now: Nanos, taken_at: Nanos, ledger: &LedgerView) {
        self.ledger_at = now;
        let ledger = ledger.clone();
        self.put(|batch| batch.ledgers.push((taken_at, ledger)));
    }

    fn handle_timeout(&mut self, now: Nanos) {
        self.now = now;
        if self.since.is_some_and(|since| now.since(since) >= MAX_WAIT) {
            self.hand_over(self.waits);
        }
    }

    fn history_trouble(&self) -> Option<Option<String>> {
        Some(self.store.trouble())
    }

    fn settle(&mut self) {
        // Nothing arrives meanwhile that would be held up.
        self.hand_over(true);
        self.store.sync();
    }

    fn finish(&mut self) {
        self.settle();
    }

    fn count(&self, ledger: &mut Ledger) {
        let tally = self.store.tally();
        ledger.stored += tally.stored;
        ledger.store_failed += tally.failed + tally.shed;
    }
}

/// Maximum number of hops in a batch.
const MAX_HOPS: usize = 8_192;
/// Interval between stored ledgers.
const LEDGER_EVERY: Nanos = Nanos::from_secs(10);
/// Maximum time that an entry waits in a batch.
const MAX_WAIT: Nanos = Nanos::from_millis(50);

#[cfg(test)]
mod tests;
