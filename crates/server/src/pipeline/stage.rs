//! What comes behind the collector?

use std::fmt;

use inband_collector::Output;
use inband_model::{Ledger, Nanos};

/// A stage behind the collector: history, live views, exports.
///
/// It runs on the thread that understands reports, so it must not wait: what waits belongs on a thread of its own
/// behind a queue with a bound, and what does not fit there is counted.
pub trait Stage: Send {
    /// Takes something the collector says.
    fn handle_output(&mut self, output: &Output);

    /// Does what has become due.
    fn handle_timeout(&mut self, now: Nanos) {
        let _ = now;
    }

    /// Puts into the ledger what this stage counts.
    fn count(&self, ledger: &mut Ledger) {
        let _ = ledger;
    }
}

impl fmt::Debug for dyn Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stage")
    }
}
