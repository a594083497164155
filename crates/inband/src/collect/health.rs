//! Prints a notice when the disk does not accept history.

use std::sync::Arc;
use std::time::{Duration, Instant};

use inband_store::Store;

use crate::note::note;
use crate::number::count;

/// Watches the store; prints when it fails, what that costs, and when it recovers.
pub(super) struct Health {
    store: Option<Arc<Store>>,
    trouble: Option<String>,
    /// When the last notice was printed, and how much was lost by then.
    said_at: Instant,
    lost: u64,
}

impl Health {
    pub(super) fn new(store: Option<Arc<Store>>) -> Health {
        Health { store, trouble: None, said_at: Instant::now(), lost: 0 }
    }

    /// Prints what has changed.
    pub(super) fn look(&mut self) {
        let Some(store) = &self.store else { return };
        let (tally, trouble) = (store.tally(), store.trouble());
        let lost = tally.failed + tally.shed;
        let is_new = trouble.is_some() != self.trouble.is_some();
        let costs = lost > self.lost && self.said_at.elapsed() >= SAY_AGAIN;
        if !is_new && !costs {
            return;
        }
        match (&trouble, lost) {
            (Some(trouble), 0) => note!("history: {trouble}"),
            (Some(trouble), lost) => note!("history: {trouble}; {} lost so far", count(lost, "report")),
            (None, 0) => note!("history: written again"),
            (None, lost) if is_new => note!("history: written again; {} lost", count(lost, "report")),
            (None, lost) => note!("history: the disk is too slow; {} lost so far", count(lost, "report")),
        }
        (self.trouble, self.lost, self.said_at) = (trouble, lost, Instant::now());
    }
}

/// Least time between two notices about a growing loss.
const SAY_AGAIN: Duration = Duration::from_secs(10);
