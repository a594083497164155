//! What takes what a collector gives out: the trait of history, live view and outputs.

use std::fmt;

use inband_model::{ExportLedger, HopColumns, Ledger, LedgerView, Nanos, Output, ReportBytes};

/// A stage behind the collector: history, live views, exports.
///
/// It runs on the thread that understands reports, so it must not wait: what waits belongs on a thread of its own
/// behind a queue with a bound, and what does not fit there is counted.
///
/// What it is given carries the time of day. `now` is the time of the pipeline, which neither jumps nor goes back.
pub trait Stage: Send {
    /// Takes something the collector says.
    fn handle_output(&mut self, output: &Output);

    /// Whether it wants the bytes of what events rest on.
    fn wants_evidence(&self) -> bool {
        false
    }

    /// Takes the bytes of reports that the event before rests on.
    fn handle_evidence(&mut self, reports: &[ReportBytes]) {
        let _ = reports;
    }

    /// Whether it wants the hops of every report.
    fn wants_hops(&self) -> bool {
        false
    }

    /// Takes the hops of so many reports; those of one report come together.
    fn handle_hops(&mut self, hops: &HopColumns, reports: u64) {
        let _ = (hops, reports);
    }

    /// Whether it wants the ledger at `now`; it is asked every [`LEDGER_EVERY`], and in the end with a time later than any.
    fn wants_ledger(&self, now: Nanos) -> bool {
        let _ = now;
        false
    }

    /// Takes the ledger as it is at `now`, which by the time of day is `taken_at`, where a stage wants it.
    fn handle_ledger(&mut self, now: Nanos, taken_at: Nanos, ledger: &LedgerView) {
        let _ = (now, taken_at, ledger);
    }

    /// Does what has become due.
    fn handle_timeout(&mut self, now: Nanos) {
        let _ = now;
    }

    /// What keeps history from being written, where this stage keeps it: `Some(None)` while it is written.
    fn history_trouble(&self) -> Option<Option<String>> {
        None
    }

    /// Hands on what it has gathered, and waits until it is counted: nothing more comes but the ledger.
    fn settle(&mut self) {}

    /// Waits until the other side has decided about what was handed on, as long as it decides at all. Only a replay
    /// does so, for all stages at the same time.
    fn drain(&mut self) {}

    /// Begins to come to its end, without waiting: nothing more comes. Outputs do so together, so that those that reach
    /// nobody have the same time for it, and not one after the other.
    fn wind_up(&mut self) {}

    /// Brings everything to its end: nothing more comes.
    fn finish(&mut self) {}

    /// Puts into the ledger what this stage counts.
    fn count(&self, ledger: &mut Ledger) {
        let _ = ledger;
    }

    /// What became of the messages, where this stage is an output.
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
