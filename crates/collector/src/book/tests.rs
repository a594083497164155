//! The begin, course and end of events.

use inband_model::{
    Acknowledgement, Confidence, EndReason, Event, EventDetail, EventId, EventKind, Nanos, NodeId, Phase,
    ReportReference, SequenceReset, Severity, Silence,
};

use super::{Book, Course, MIN_QUIET, Signs};

const QUIET: Nanos = MIN_QUIET;
/// Just before and at the end of an event whose last sign was at 0.
const BEFORE_END: u64 = MIN_QUIET.0 - 1;
const AT_END: u64 = MIN_QUIET.0;

#[test]
fn an_event_begins_once_goes_on_and_ends_when_it_is_quiet() {
    let mut book = book();
    let begin = book.begin(event("a", 1_000), Course::until_quiet(QUIET)).unwrap();
    assert_eq!((begin.phase, begin.count), (Phase::Begin, 1));

    assert_eq!(book.begin(event("a", 1_050), Course::until_quiet(QUIET)), None);
    assert_eq!(book.next_ended(Nanos(1_050 + BEFORE_END)), None);
    assert_eq!(book.active().count(), 1);
    let end = book.next_ended(Nanos(1_050 + AT_END)).unwrap();

    assert_eq!((end.phase, end.count), (Phase::End, 2));
    assert_eq!((end.first, end.last, end.id()), (Nanos(1_000), Nanos(1_050), begin.id()));
    assert_eq!(end.evidence.iter().map(|report| report.received_at.0).collect::<Vec<_>>(), [1_000, 1_050]);
    assert_eq!((book.active().count(), book.past().count(), book.next_timeout()), (0, 1, None));
    assert!(book.begin(event("a", 2_000 + AT_END), Course::until_quiet(QUIET)).is_some());
}

#[test]
fn an_announcement_that_says_all_does_not_add_up() {
    let mut book = book();
    book.begin(event("a", 1_000), Course::renewed_within(QUIET));
    book.begin(Event { count: 7, ..event("a", 1_010) }, Course::renewed_within(QUIET));

    assert_eq!(book.next_ended(Nanos(1_010 + AT_END)).unwrap().count, 7);
}

#[test]
fn an_event_without_a_quiet_time_ends_only_when_its_end_is_announced() {
    let mut book = book();
    book.begin(event("a", 1_000), Course::UNTIL_ENDED);
    assert_eq!((book.next_timeout(), book.next_ended(Nanos::MAX)), (None, None));

    let end = book.end(event("a", 2_000), EndReason::Over);

    assert_eq!((end.phase, end.first, end.last), (Phase::End, Nanos(1_000), Nanos(2_000)));
}

#[test]
fn no_event_ends_sooner_than_a_second_after_its_last_sign() {
    for course in [Course::until_quiet(Nanos::ZERO), Course::renewed_within(Nanos::ZERO)] {
        let mut book = book();
        book.begin(event("a", 0), course);

        assert_eq!(book.next_ended(Nanos(BEFORE_END)), None);
        assert_eq!(book.next_ended(Nanos(AT_END)).unwrap().end_reason, Some(EndReason::Quiet));
    }
}

#[test]
fn signs_are_announced_more_often_than_their_event_needs_to_go_on() {
    for quiet in [Nanos::ZERO, Nanos::from_secs(1), Nanos::from_secs(3), Nanos::from_secs(60)] {
        let course = Course::until_quiet(quiet);
        let (mut book, mut signs) = (book(), Signs::default());
        let (mut begins, mut ends, mut count) = (0, 0, 0);
        // A sign every 200 ms for two minutes.
        for step in 0..600 {
            let now = Nanos::from_millis(200 * step);
            ends += usize::from(book.next_ended(now).is_some());
            if let Some(announced) = signs.take(now, course) {
                count += announced;
                begins += usize::from(
                    book.begin(Event { count: announced, ..event("a", now.0) }, course).is_some(),
                );
            }
        }

        assert_eq!((begins, ends), (1, 0), "{quiet:?}");
        assert_eq!(book.active().next().unwrap().event.count, count);
        assert!(count > 590, "{count}");
    }
}

#[test]
fn a_cause_that_is_over_and_comes_again_within_a_second_is_the_same_event() {
    let mut book = book();
    book.begin(event("a", 0), Course::UNTIL_ENDED);

    book.calm(EventKind::SequenceReset, "a", Nanos(10));
    assert_eq!(book.begin(event("a", 20), Course::UNTIL_ENDED), None);
    assert_eq!(book.next_ended(Nanos::MAX), None);
    book.calm(EventKind::SequenceReset, "a", Nanos(30));

    assert_eq!(book.next_ended(Nanos(30 + BEFORE_END)), None);
    let end = book.next_ended(Nanos(30 + AT_END)).unwrap();
    assert_eq!((end.end_reason, end.last), (Some(EndReason::Over), Nanos(30)));
}

#[test]
fn events_that_go_on_at_the_end_of_a_run_get_an_end_that_says_so() {
    let mut book = book();
    let ids: Vec<EventId> =
        ["b", "a"].map(|key| book.begin(event(key, 5), Course::UNTIL_ENDED).unwrap().id()).into();

    let ended = book.end_run(Nanos(70));

    assert!(ended.iter().all(|event| event.end_reason == Some(EndReason::RunEnded)));
    assert!(ended.iter().all(|event| (event.phase, event.last) == (Phase::End, Nanos(70))));
    assert_eq!(ended.iter().map(Event::id).collect::<Vec<_>>(), [ids[1], ids[0]]);
    assert_eq!((book.active().count(), book.past().count()), (0, 2));
}

#[test]
fn the_first_and_the_latest_reports_are_the_evidence() {
    let mut book = book();
    for time in 0..100 {
        book.begin(event("a", 1_000 + time), Course::until_quiet(QUIET));
    }

    let times: Vec<u64> =
        book.active().next().unwrap().event.evidence.iter().map(|report| report.received_at.0).collect();

    assert_eq!(times, [1_000, 1_001, 1_002, 1_003, 1_096, 1_097, 1_098, 1_099]);
}

#[test]
fn more_events_than_there_is_room_for_are_announced_and_counted() {
    let mut book = Book::new(1, 2, &[]);
    book.begin(event("a", 1_000), Course::until_quiet(QUIET));

    let other = book.begin(event("b", 1_000), Course::until_quiet(QUIET)).unwrap();

    assert_eq!((other.phase, book.untracked(), book.active().count()), (Phase::Once, 1, 1));
    // It is not announced again with each sign.
    assert_eq!(book.begin(event("b", 1_050), Course::until_quiet(QUIET)), None);
    for key in ["c", "d", "e"] {
        book.once(event(key, 1_000));
    }
    assert_eq!(book.past().map(|view| view.event.key.as_str()).collect::<Vec<_>>(), ["e", "d"]);
}

#[test]
fn an_acknowledgement_stays_with_the_event_until_after_its_end() {
    let mut book = book();
    let id = book.begin(event("a", 1_000), Course::until_quiet(QUIET)).unwrap().id();
    let known = Acknowledgement { by: "me".into(), comment: String::new(), at: Nanos(1_001) };

    assert!(book.acknowledge(id, known.clone()));
    assert!(!book.acknowledge(EventId(0), known.clone()));

    assert_eq!(book.active().next().unwrap().acknowledged, Some(known.clone()));
    book.next_ended(Nanos(1_000 + AT_END)).unwrap();
    assert_eq!(book.past().next().unwrap().acknowledged, Some(known));
}

#[test]
fn a_silenced_event_is_kept_and_marked_until_the_silence_ends() {
    let silence = Silence { key: "node 7".into(), until: Some(Nanos(2_000)), ..Silence::default() };
    let mut book = Book::new(100, 100, &[silence]);

    let silenced = |book: &mut Book, key, time| book.once(event(key, time)).silenced;

    assert!(silenced(&mut book, "node 7 egress 1", 1_999));
    assert!(!silenced(&mut book, "node 7 egress 1", 2_000));
    assert!(!silenced(&mut book, "node 8", 1_000));
    assert_eq!(book.past().count(), 3);
}

#[test]
fn a_silence_can_be_of_one_kind_and_be_lifted() {
    let mut book = book();
    let of = |kind| Silence { kind: Some(kind), ..Silence::default() };
    let other = book.silences.add(Nanos(0), of(EventKind::Loop)).unwrap();
    let this = book.silences.add(Nanos(0), of(EventKind::SequenceReset)).unwrap();
    assert!(book.once(event("a", 1)).silenced);

    assert!(book.silences.lift(this) && !book.silences.lift(this));

    assert!(!book.once(event("a", 2)).silenced);
    assert_eq!(book.silences.iter().map(|(number, _)| number).collect::<Vec<_>>(), [other]);
}

#[test]
fn silences_are_bounded_and_those_that_have_ended_make_room() {
    let mut book = book();
    let silence = Silence { until: Some(Nanos(10)), ..Silence::default() };
    let added = (0..2_000).filter(|_| book.silences.add(Nanos(0), silence.clone()).is_some()).count();

    assert_eq!(added, 1_024);
    assert!(book.silences.add(Nanos(10), silence).is_some());
}

fn book() -> Book {
    Book::new(100, 100, &[])
}

fn event(key: &str, time: u64) -> Event {
    let session = std::net::SocketAddr::from(([127, 0, 0, 1], 32_766));
    let reset = SequenceReset { node_id: NodeId(1), hw_id: 0, session, expected: 9, sequence: 1 };
    Event {
        detail: EventDetail::SequenceReset(reset),
        severity: Severity::Info,
        key: key.to_owned(),
        first: Nanos(time),
        last: Nanos(time),
        count: 1,
        confidence: Confidence::Probable,
        evidence: vec![ReportReference { received_at: Nanos(time), ..ReportReference::default() }],
        phase: Phase::Once,
        silenced: false,
        end_reason: None,
    }
}
