use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use inband_model::Nanos;

use super::{MAX_BATCHES, ReceptionCounts, feed};
use crate::clock::Clock;
use crate::receive::Batch;

#[test]
fn batches_come_out_in_the_order_they_went_in() {
    let (inlet, feed) = feed(1 << 20, Clock::start());
    inlet.put(batch(1, 10));
    inlet.put(batch(2, 10));

    assert_eq!(feed.next(Duration::ZERO), Ok(batch(1, 10)));
    assert_eq!(feed.next(Duration::ZERO), Ok(batch(2, 10)));
    assert_eq!(feed.next(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    assert_eq!(feed.take_counts(), ReceptionCounts::default());
}

#[test]
fn what_does_not_fit_is_shed_and_counted_by_the_datagram() {
    let room = batch(3, 1_000).cost() * 2;
    let (inlet, feed) = feed(room, Clock::start());
    for _ in 0..5 {
        inlet.put(batch(3, 1_000));
    }

    assert_eq!(feed.take_counts(), ReceptionCounts { shed: 9, ..ReceptionCounts::default() });
    assert_eq!(feed.take_counts(), ReceptionCounts::default());
}

#[test]
fn room_comes_back_when_a_batch_is_taken() {
    let (inlet, feed) = feed(batch(1, 1_000).cost(), Clock::start());
    for _ in 0..10 {
        inlet.put(batch(1, 1_000));
        assert!(feed.next(Duration::ZERO).is_ok());
    }

    assert_eq!(feed.take_counts().shed, 0);
}

#[test]
fn the_number_of_batches_has_a_bound_of_its_own() {
    let (inlet, feed) = feed(usize::MAX, Clock::start());
    for _ in 0..MAX_BATCHES + 7 {
        inlet.put(batch(1, 0));
    }

    assert_eq!(feed.take_counts().shed, 7);
}

#[test]
fn what_comes_when_nobody_reads_any_more_is_shed() {
    let (inlet, feed) = feed(1 << 20, Clock::start());
    let state = std::sync::Arc::clone(&feed.state);
    drop(feed);
    inlet.put(batch(4, 1));

    assert_eq!(state.shed.load(std::sync::atomic::Ordering::Relaxed), 4);
}

fn batch(datagrams: usize, bytes: usize) -> Batch {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 32_766));
    let mut batch = Batch::new(Nanos(7), address);
    for _ in 0..datagrams {
        batch.push(address, &vec![0xa5; bytes]);
    }
    batch
}

#[test]
fn a_wait_ends_when_it_is_woken_and_otherwise_only_with_a_batch() {
    let (inlet, feed) = feed(1 << 20, Clock::start());
    let (waker, long) = (feed.waker(), Duration::from_secs(600));
    // Woken before it waits.
    waker.wake();
    assert_eq!(feed.next(long), Err(RecvTimeoutError::Timeout));
    // What a batch that was already taken has left does not end the next wait.
    inlet.put(batch(1, 10));
    assert_eq!(feed.next(long), Ok(batch(1, 10)));
    let sender = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        inlet.put(batch(2, 10));
        inlet
    });
    assert_eq!(feed.next(long), Ok(batch(2, 10)));
    let inlet = sender.join().unwrap();
    let waking = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        waker.wake();
    });
    assert_eq!(feed.next(long), Err(RecvTimeoutError::Timeout));
    waking.join().unwrap();
    drop(inlet);
    assert_eq!(feed.next(long), Err(RecvTimeoutError::Disconnected));
}
