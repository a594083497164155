use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Ending, Messages, Next, queue};
use crate::tally::Tally;

impl Messages for Vec<u8> {
    fn messages(&self) -> u64 {
        self.len() as u64
    }
}

#[test]
fn what_fits_comes_out_in_order_and_the_rest_is_counted() {
    let tally = Arc::new(Tally::new("test".to_owned()));
    let (inlet, outlet) = queue(4, Arc::clone(&tally));
    for item in [vec![1, 2, 3], vec![4, 5], vec![6]] {
        inlet.put(item);
    }
    let ledger = tally.ledger();
    assert_eq!((ledger.offered, ledger.export_failed, ledger.waiting), (6, 2, 4));
    assert_eq!(ledger.failures, [("queue-full".to_owned(), 2)].into());

    assert_eq!(outlet.next(Duration::ZERO), Next::Item(vec![1, 2, 3]));
    inlet.put(vec![7, 8, 9]);
    drop(inlet);
    assert_eq!(outlet.next(Duration::ZERO), Next::Item(vec![6]));
    assert_eq!(outlet.next(Duration::ZERO), Next::Item(vec![7, 8, 9]));
    assert_eq!(outlet.next(Duration::ZERO), Next::End);
    assert_eq!((tally.ledger().offered, tally.ledger().export_failed), (9, 2));
}

#[test]
fn what_is_put_in_when_nobody_takes_out_any_more_is_counted() {
    let tally = Arc::new(Tally::new("test".to_owned()));
    let (inlet, outlet) = queue(4, Arc::clone(&tally));
    drop(outlet);

    inlet.put(vec![1]);

    assert_eq!(tally.ledger().failures, [("stopped".to_owned(), 1)].into());
    assert!(tally.ledger().balances());
}

#[test]
fn a_pause_ends_where_the_end_begins() {
    let ending = Arc::new(Ending::default());
    assert_eq!(ending.left(), None);
    let started = Instant::now();
    let paused = std::thread::spawn({
        let ending = Arc::clone(&ending);
        move || ending.pause(Duration::from_secs(60))
    });
    ending.begin(Duration::from_secs(5));
    paused.join().unwrap();

    assert!(started.elapsed() < Duration::from_secs(30));
    assert!(ending.left().is_some_and(|left| left <= Duration::from_secs(5)));
}
