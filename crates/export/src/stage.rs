//! The interface to the collector's outputs: history, live views and exports.

use std::fmt;

use inband_model::{ExportLedger, HopColumns, Ledger, LedgerView, Nanos, Output, ReportBytes};

/// A stage behind the collector: history, live views, exports.
///
/// It runs on the thread that decodes reports, so it must not block: blocking work belongs on another thread
/// behind a bounded queue, and what does not fit there is counted.
///
/// Its input carries the time of day. `now` is the pipeline's clock, which neither jumps nor goes back.
pub trait Stage: Send {
    /// Handles an observation or event.
    fn handle_output(&mut self, output: &Output);

    /// Whether it wants the reports behind events.
    fn wants_evidence(&self) -> bool {
        false
    }

    /// Handles the reports behind the preceding event.
    fn handle_evidence(&mut self, reports: &[ReportBytes]) {
        let _ = reports;
    }

    /// Whether it wants the hops of every report.
    fn wants_hops(&self) -> bool {
        false
    }

    /// Handles the hops of `reports` reports; those of one report come together.
    fn handle_hops(&mut self, hops: &HopColumns, reports: u64) {
        let _ = (hops, reports);
    }

    /// Whether it wants the ledger at `now`. Called every [`LEDGER_EVERY`], and at the end with a time later
    /// than any other.
    fn wants_ledger(&self, now: Nanos) -> bool {
        let _ = now;
        false
    }

    /// Handles the ledger at `now`, which is `taken_at` by the time of day.
    fn handle_ledger(&mut self, now: Nanos, taken_at: Nanos, ledger: &LedgerView) {
        let _ = (now, taken_at, ledger);
    }

    /// Does what is due.
    fn handle_timeout(&mut self, now: Nanos) {
        let _ = now;
    }

    /// What keeps history from being written: `None` if the stage writes none, `Some(None)` if nothing does.
    fn history_trouble(&self) -> Option<Option<String>> {
        None
    }

    /// Flushes what it has gathered, and waits until that is counted: only the ledger follows.
    fn settle(&mut self) {}

    /// Waits while the other side decides about pending messages. Called only in a replay, for all stages at
    /// once.
    fn drain(&mut self) {}

    /// Begins to end, without waiting: nothing more follows. Outputs that cannot reach the other side thus
    /// share one grace period.
    fn wind_up(&mut self) {}

    /// Ends: nothing more follows.
    fn finish(&mut self) {}

    /// Adds this stage's counts to the ledger.
    fn count(&self, ledger: &mut Ledger) {
        let _ = ledger;
    }

    /// The counts of the messages, if this stage is an output.
    fn export(&self) -> Option<ExportLedger> {
        None
    }
}

/// How often stages get the ledger.
pub const LEDGER_EVERY: Nanos = Nanos::from_secs(1);

impl fmt::Debug for dyn Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stage")
    }
}
