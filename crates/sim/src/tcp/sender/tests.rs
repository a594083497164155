use std::collections::VecDeque;

use super::{MSS, Sender, WINDOW};
use crate::flow::{TcpTraffic, Writes};
use crate::tcp::Segment;
use crate::tcp::receiver::Receiver;
use crate::time::{MILLISECOND, Nanos, SECOND};

/// One-way delay.
const ONE_WAY_NS: Nanos = 50_000;

#[test]
fn a_connection_opens_carries_its_bytes_and_closes() {
    let (sender, receiver, sent) = run(bulk(100_000), SECOND, |_, _| false);

    assert!(sender.is_done());
    assert_eq!(receiver.received_bytes(), 100_000);
    assert!(sent[0].1.syn && sent[0].1.acknowledgment.is_none());
    assert_eq!(sent.iter().map(|(_, segment)| segment.length as u64).sum::<u64>(), 100_000);
    assert_eq!(
        sent.last().unwrap().1,
        Segment { sequence: 100_002, acknowledgment: Some(2), ..Segment::default() }
    );
}

#[test]
fn the_window_doubles_each_round_trip_until_it_reaches_the_receivers() {
    let (_, _, sent) = run(TcpTraffic::default(), 10 * MILLISECOND, |_, _| false);

    let data: Vec<_> = sent.iter().filter(|(_, segment)| segment.length > 0).collect();
    let round = |number: u64| {
        let from = (1 + number) * 2 * ONE_WAY_NS;
        data.iter().filter(|(at, _)| (from..from + 2 * ONE_WAY_NS).contains(at)).count()
    };

    assert_eq!([round(0), round(1), round(2)], [10, 20, 40]);
    assert_eq!(round(10) as u64, WINDOW / MSS);
}

#[test]
fn one_lost_segment_is_repeated_after_three_duplicates_and_halves_the_window() {
    let lost = 30 * MSS + 1;
    let (sender, receiver, sent) = run(bulk(400_000), SECOND, |_, segment| segment.sequence == lost);

    let copies: Vec<_> = sent.iter().filter(|(_, segment)| segment.sequence == lost).collect();
    assert_eq!(copies.len(), 2, "lost once, repeated once");
    assert!(copies[1].0 - copies[0].0 < 4 * ONE_WAY_NS, "without waiting for the timer");
    assert!(sender.is_done());
    assert!(sender.slow_start_threshold < 40 * MSS);
    assert_eq!(receiver.received_bytes(), 400_000);
}

#[test]
fn a_lost_syn_a_lost_tail_and_a_lost_fin_are_repeated_by_the_timer() {
    let last = 100_000 - 100_000 % MSS + 1;
    let is_lost = |_, segment: &Segment| segment.syn || segment.sequence == last || segment.fin;
    let (sender, receiver, sent) = run(bulk(100_000), SECOND, is_lost);

    assert!(sender.is_done());
    assert_eq!(receiver.received_bytes(), 100_000);
    assert_eq!(sent.iter().filter(|(_, segment)| segment.syn).count(), 2);
}

#[test]
fn a_connection_survives_heavy_random_loss() {
    let mut random = crate::random::Random::new(3);
    let mut dropped = 0;
    let (sender, receiver) = run_lossy(bulk(500_000), 100 * SECOND, |_, _| {
        let lost = random.below(10) == 0;
        dropped += u32::from(lost);
        lost
    });

    assert!(sender.is_done());
    assert_eq!(receiver.received_bytes(), 500_000);
    assert!(dropped > 20);
}

#[test]
fn a_sender_nobody_answers_gives_up() {
    let (sender, _) = run_lossy(bulk(1), 100 * SECOND, |_, _| true);

    assert!(sender.has_failed());
    assert_eq!(sender.deadline(100 * SECOND), None);
}

#[test]
fn an_application_that_writes_slowly_sets_the_rate() {
    let writes = Writes { bytes: 1_000, every_ns: MILLISECOND };
    let (_, receiver, sent) =
        run(TcpTraffic { bytes: None, writes: Some(writes) }, 100 * MILLISECOND, |_, _| false);

    // The first write is at 0, the last at the end.
    assert_eq!(receiver.received_bytes(), 101_000);
    assert!(sent.iter().all(|(_, segment)| segment.length == 0 || segment.length == 1_000));
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_is_ignored() {
    let mut sender = Sender::new(bulk(1_000), 0);
    sender.poll_segment(0);

    sender.handle_segment(1, &Segment { acknowledgment: Some(9_999), ..Segment::default() });

    assert_eq!(sender.unacknowledged(), 0);
}

fn bulk(bytes: u64) -> TcpTraffic {
    TcpTraffic { bytes: Some(bytes), writes: None }
}

/// Runs a connection in which the first copy of every segment selected by `is_lost` is lost; returns what was
/// sent.
fn run(
    traffic: TcpTraffic,
    until: Nanos,
    is_lost: impl Fn(Nanos, &Segment) -> bool,
) -> (Sender, Receiver, Vec<(Nanos, Segment)>) {
    let mut sent: Vec<(Nanos, Segment)> = Vec::new();
    let (sender, receiver) = run_lossy(traffic, until, |now, segment| {
        let repeated = sent.iter().any(|(_, earlier)| earlier.sequence == segment.sequence);
        sent.push((now, *segment));
        is_lost(now, segment) && !repeated
    });
    (sender, receiver, sent)
}

fn run_lossy(
    traffic: TcpTraffic,
    until: Nanos,
    mut loses: impl FnMut(Nanos, &Segment) -> bool,
) -> (Sender, Receiver) {
    let (mut sender, mut receiver) = (Sender::new(traffic, 0), Receiver::default());
    let (mut forth, mut back) = (VecDeque::new(), VecDeque::new());
    let mut now = 0;
    while now <= until {
        sender.handle_timeout(now);
        while let Some(segment) = sender.poll_segment(now) {
            if !loses(now, &segment) {
                forth.push_back((now + ONE_WAY_NS, segment));
            }
        }
        let timer = sender.deadline(now);
        let arrival = [&forth, &back].into_iter().filter_map(|way| way.front()).map(|&(at, _)| at).min();
        let Some(next) = [timer, arrival].into_iter().flatten().min() else { break };
        now = next;
        while let Some((_, segment)) = forth.pop_front_if(|&mut (at, _)| at <= now) {
            back.extend(receiver.handle_segment(&segment).map(|answer| (now + ONE_WAY_NS, answer)));
        }
        while let Some((_, segment)) = back.pop_front_if(|&mut (at, _)| at <= now) {
            sender.handle_segment(now, &segment);
        }
    }
    (sender, receiver)
}
