use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use inband_model::{HopColumns, HopRecord, Output};

use super::{Choice, Chosen, start};
use crate::queue::Messages;
use crate::stage::Stage;
use crate::tally::Tally;

#[test]
fn hops_are_not_copied_where_they_would_not_fit() {
    let tally = Arc::new(Tally::new("test".to_owned()));
    let copies = Arc::new(AtomicU64::new(0));
    let (release, held) = std::sync::mpsc::channel::<()>();
    // The thread takes nothing out until the end.
    let mut export = start(Copying(Arc::clone(&copies)), 5, Arc::clone(&tally), move |work| {
        let _ = held.recv();
        drop(work);
    })
    .unwrap();
    let hops: HopColumns = std::iter::repeat_n(HopRecord::default(), 3).collect();

    for _ in 0..4 {
        export.handle_hops(&hops, 1);
    }

    assert_eq!(copies.load(Ordering::Relaxed), 1);
    let ledger = tally.ledger();
    assert_eq!((ledger.offered, ledger.export_failed, ledger.waiting), (12, 9, 3));
    assert_eq!(ledger.failures, [("queue-full".to_owned(), 9)].into());
    drop(release);
    export.finish();
}

/// Counts how often hops are copied.
struct Copying(Arc<AtomicU64>);

struct Hops(u64);

impl Messages for Hops {
    fn messages(&self) -> u64 {
        self.0
    }
}

impl Choice for Copying {
    type Item = Hops;

    fn choose(&mut self, _output: &Output) -> Chosen<Hops> {
        Chosen::Nothing
    }

    fn wants_hops(&self) -> bool {
        true
    }

    fn messages_of(&self, hops: &HopColumns) -> Option<u64> {
        Some(hops.len() as u64)
    }

    fn choose_hops(&mut self, hops: &HopColumns) -> Chosen<Hops> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Chosen::Deliver(Hops(hops.len() as u64))
    }
}
