use inband_model::{
    Confidence, Event, EventDetail, Flow, Nanos, NewFlow, NodeId, ReportBytes, ReportReference, Severity,
};
use inband_testkit::{inner_only, report_group};

use super::{Evidence, EvidenceCounts, MAX_AT_ONCE, PER_SECOND};
use crate::receive::Batch;
use crate::recent::Recent;

#[test]
fn each_report_of_an_event_is_given_once_with_its_bytes() {
    let mut evidence = Evidence::new(Recent::new(1 << 20));
    (1..=3).for_each(|number| keep(&mut evidence.recent, number, 40));

    let begin = evidence.of(Nanos(10), &event("a", &[1, 2, 9]));
    let end = evidence.of(Nanos(11), &event("a", &[1, 2, 3, 9]));
    let other = evidence.of(Nanos(12), &event("b", &[1]));

    let numbers = |given: &[ReportBytes]| given.iter().map(|one| one.report.sequence).collect::<Vec<_>>();
    assert_eq!([numbers(&begin), numbers(&end), numbers(&other)], [vec![1, 2], vec![3], vec![1]]);
    assert_eq!(
        (&begin[0].bytes, begin[0].length),
        (&report(1, 40), u32::try_from(report(1, 40).len()).unwrap())
    );
    assert_ne!(begin[0].event, other[0].event);
    let EvidenceCounts { kept, gone, shed, .. } = evidence.counts();
    assert_eq!((kept, gone, shed), (4, 1, 0), "what is gone is counted once");
}

#[test]
fn of_a_long_datagram_the_beginning_is_given() {
    let mut evidence = Evidence::new(Recent::new(1 << 20));
    keep(&mut evidence.recent, 1, 4_000);
    let given = evidence.of(Nanos(10), &event("a", &[1]));
    let whole = report(1, 4_000);
    assert_eq!((given[0].bytes.as_slice(), given[0].length as usize), (&whole[..1_536], whole.len()));
}

#[test]
fn a_flood_of_events_is_shed_and_counted_and_later_ones_are_kept() {
    let mut evidence = Evidence::new(Recent::new(1 << 20));
    keep(&mut evidence.recent, 1, 40);
    let mut given = |now: u64, count: u64| -> usize {
        let event = |key: u64| event(&format!("{now} {key}"), &[1]);
        (0..count).map(|key| evidence.of(Nanos::from_secs(now), &event(key)).len()).sum()
    };
    assert_eq!(given(1_000, MAX_AT_ONCE + 50), usize::try_from(MAX_AT_ONCE).unwrap());
    assert_eq!(given(1_001, 100), usize::try_from(PER_SECOND).unwrap());
    assert_eq!(given(2_000, 100), 100);
    assert_eq!(evidence.counts().shed, 50 + 36);
}

fn event(key: &str, numbers: &[u32]) -> Event {
    let reference = |number: &u32| ReportReference {
        node_id: NodeId(7),
        hw_id: 0,
        sequence: *number,
        received_at: Nanos((*number).into()),
    };
    let reports: Vec<ReportReference> = numbers.iter().map(reference).collect();
    let detail = EventDetail::NewFlow(NewFlow { flow: Flow::default(), path: None, unannounced: 0 });
    let event = Event::of_report(detail, Severity::Info, key.to_owned(), Confidence::Certain, reports[0]);
    Event { evidence: reports, ..event }
}

fn keep(recent: &mut Recent, number: u32, length: usize) {
    let address = ([127, 0, 0, 1], 1).into();
    let mut batch = Batch::new(Nanos(number.into()), address);
    batch.push(address, &report(number, length));
    recent.keep(Nanos(number.into()), batch);
}

fn report(number: u32, length: usize) -> Vec<u8> {
    let individual = inner_only().flags(0x20).inner(0, &vec![0; length]);
    report_group(7).sequence(number).with(individual).build()
}
