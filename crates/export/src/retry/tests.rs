use std::time::Duration;

use super::Retry;
use crate::answer::Answer;
use crate::queue::Ending;
use crate::tally::Tally;

#[test]
fn pauses_double_up_to_the_longest_and_are_at_least_half() {
    let retry = retry(9);
    for (tried, full) in [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1_000), (60, 1_000)] {
        let full = Duration::from_millis(full);
        for random in [0, 1, 511, 1_023, 1_024, u64::MAX] {
            let pause = retry.pause(tried, None, random);
            assert!(pause >= full / 2 && pause <= full, "{tried}: {pause:?}");
        }
        assert_ne!(retry.pause(tried, None, 0), retry.pause(tried, None, 900), "{tried}");
    }
}

#[test]
fn the_other_side_may_ask_for_more_time_up_to_the_longest() {
    let asked = |ms| retry(2).pause(1, Some(Duration::from_millis(ms)), 0);
    assert_eq!(asked(700), Duration::from_millis(700));
    assert_eq!(asked(3_600_000), Duration::from_secs(1));
    assert_eq!(asked(1), Duration::from_millis(50));
}

#[test]
fn it_is_tried_as_often_as_said_and_then_given_up() {
    let tally = Tally::new("test".to_owned());
    let mut attempts = 0;
    Retry { first: Duration::ZERO, ..retry(3) }.deliver(5, &tally, &Ending::default(), |_| {
        attempts += 1;
        Answer::Away { why: "not there".to_owned(), again: None }
    });
    let ledger = tally.ledger();
    assert_eq!((attempts, ledger.retries), (3, 2));
    assert_eq!(ledger.failures, [("gave-up".to_owned(), 5)].into());
    assert_eq!(ledger.trouble.as_deref(), Some("not there"));
}

#[test]
fn what_is_refused_is_not_tried_again() {
    let tally = Tally::new("test".to_owned());
    let mut attempts = 0;
    retry(3).deliver(2, &tally, &Ending::default(), |_| {
        attempts += 1;
        Answer::Refused("400".to_owned())
    });
    assert_eq!((attempts, tally.ledger().failures), (1, [("refused".to_owned(), 2)].into()));
}

#[test]
fn what_is_rejected_of_a_message_is_not_exported_and_not_tried_again() {
    for (rejected, exported, failed) in [(0, 5, 0), (2, 3, 2), (5, 0, 5), (9, 0, 5)] {
        let tally = Tally::new("test".to_owned());
        let answer = |_| Answer::TakenInPart { rejected, why: "too old".to_owned() };
        retry(3).deliver(5, &tally, &Ending::default(), answer);
        let ledger = tally.ledger();
        assert_eq!((ledger.exported, ledger.export_failed, ledger.retries), (exported, failed, 0));
        assert_eq!(ledger.trouble.as_deref(), Some("too old"));
    }
}

#[test]
fn the_trouble_of_one_part_is_not_over_when_another_part_delivers() {
    let tally = Tally::new("test".to_owned());
    let deliver = |part, answer: Answer| {
        Retry { part, attempts: 1, ..retry(1) }.deliver(0, &tally, &Ending::default(), |_| answer.clone());
        tally.ledger().trouble
    };
    let away = Answer::Away { why: "it is away".to_owned(), again: None };
    assert_eq!(deliver("traces", away.clone()).as_deref(), Some("traces: it is away"));
    assert_eq!(deliver("metrics", Answer::Taken).as_deref(), Some("traces: it is away"));
    assert_eq!(deliver("metrics", away).as_deref(), Some("metrics: it is away; traces: it is away"));
    assert_eq!(deliver("traces", Answer::Taken).as_deref(), Some("metrics: it is away"));
    assert_eq!(deliver("metrics", Answer::Taken), None);
}

#[test]
fn at_the_end_there_is_one_attempt_and_none_when_time_is_over() {
    for (grace, expected) in [(60, 1), (0, 0)] {
        let (tally, ending) = (Tally::new("test".to_owned()), Ending::default());
        ending.begin(Duration::from_secs(grace));
        let mut attempts = 0;
        retry(3).deliver(1, &tally, &ending, |left| {
            attempts += 1;
            assert!(left.is_some());
            Answer::Away { why: String::new(), again: None }
        });
        assert_eq!((attempts, tally.ledger().failures), (expected, [("stopped".to_owned(), 1)].into()));
    }
}

fn retry(attempts: u32) -> Retry {
    Retry { attempts, first: Duration::from_millis(100), longest: Duration::from_secs(1), part: "" }
}
