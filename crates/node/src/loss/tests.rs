//! The detector against a simple model, over loss, duplication, reordering, wrap and restart.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use inband_wire::int::CodePoints;
use inband_wire::report::ReportGroup;
use inband_wire::{FiveTuple, Link, Strictness, dissect};
use proptest::prelude::*;

use super::flow::Numbers;
use super::{Arrival, Gap, Loss, LossCounts, LossDetector, Source};

const HOLD: u64 = 200_000_000;
const IDLE: u64 = 120_000_000_000;
const SOURCE: Source = Source { node_id: 7, ingress: 3 };
const EGRESS: u16 = 5;

fn flow(port: u16) -> FiveTuple {
    FiveTuple {
        source: Ipv4Addr::new(10, 0, 0, 1).into(),
        destination: Ipv4Addr::new(10, 0, 0, 2).into(),
        protocol: 17,
        source_port: port,
        destination_port: 80,
    }
}

/// A detector that stores every number, relative to a common base.
#[derive(Default)]
struct Model {
    /// The first number received; earlier ones do not count as lost.
    start: Option<i64>,
    came: BTreeSet<i64>,
    /// Missing numbers with the time of the packet that revealed the gap.
    missing: BTreeMap<i64, u64>,
    lost: BTreeSet<i64>,
    counts: LossCounts,
}

impl Model {
    fn arrive(&mut self, number: i64, now: u64) {
        self.close(|opened_at| now - opened_at >= HOLD);
        let latest = self.came.last().copied();
        let start = *self.start.get_or_insert(number);
        if !self.came.insert(number) {
            self.counts.duplicate += 1;
        } else if latest.is_none_or(|latest| number > latest) {
            self.counts.in_order += 1;
            for missing in latest.map_or(number, |latest| latest + 1)..number {
                self.missing.insert(missing, now);
            }
        } else if self.missing.remove(&number).is_some() || number < start {
            self.counts.reordered += 1;
        } else {
            self.counts.late += 1;
        }
    }

    fn close(&mut self, is_closed: impl Fn(u64) -> bool) {
        let closed: Vec<_> =
            self.missing.iter().filter(|(_, at)| is_closed(**at)).map(|(number, _)| *number).collect();
        for number in closed {
            self.missing.remove(&number);
            self.lost.insert(number);
            self.counts.lost += 1;
        }
    }
}

/// The fate of one packet on the path.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Arrives,
    IsLost,
    /// Arrives this many packets later.
    IsDelayed(usize),
    /// Arrives again this many packets later.
    IsDoubled(usize),
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Arrives),
        1 => Just(Fate::IsLost),
        1 => (1..40_usize).prop_map(Fate::IsDelayed),
        1 => (1..40_usize).prop_map(Fate::IsDoubled),
    ]
}

/// The numbers in order of arrival, counted from 0.
fn arrivals(fates: &[Fate]) -> Vec<i64> {
    let mut at: Vec<(usize, i64)> = Vec::new();
    for (place, (fate, number)) in fates.iter().zip(0..).enumerate() {
        match fate {
            Fate::Arrives => at.push((place, number)),
            Fate::IsLost => {}
            Fate::IsDelayed(by) => at.push((place + by, number)),
            Fate::IsDoubled(by) => at.extend([(place, number), (place + by, number)]),
        }
    }
    at.sort_by_key(|(place, _)| *place);
    at.into_iter().map(|(_, number)| number).collect()
}

/// The wire number of the packet `number` after `base`.
fn wire(base: u32, number: i64) -> u32 {
    base.wrapping_add(u32::try_from(number).unwrap())
}

fn lost_numbers(detector: &mut LossDetector) -> u64 {
    std::iter::from_fn(|| detector.poll_loss()).map(|loss| u64::from(loss.gap.missing)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn counts_are_those_of_a_perfect_memory(
        fates in prop::collection::vec(fate(), 1..200),
        base in prop_oneof![Just(1_u32), any::<u32>(), (u32::MAX - 100)..=u32::MAX],
        gaps_ms in prop::collection::vec(prop_oneof![9 => Just(1_u64), 1 => 1..300_u64], 400),
    ) {
        let (mut model, mut detector) = (Model::default(), LossDetector::new(10, HOLD, IDLE));
        let mut now = 1_000_000_000;
        for (number, gap_ms) in arrivals(&fates).into_iter().zip(gaps_ms.into_iter().cycle()) {
            now += gap_ms * 1_000_000;
            model.arrive(number, now);
            detector.handle_packet(flow(1), SOURCE, EGRESS, wire(base, number), now);
        }
        model.close(|_| true);
        detector.flush();
        let lost = lost_numbers(&mut detector);
        prop_assert_eq!(lost, model.counts.lost);
        prop_assert_eq!(detector.counts(), model.counts);
        prop_assert_eq!(u64::try_from(model.lost.len()).unwrap(), lost);
    }

    #[test]
    fn a_restart_ends_one_count_and_begins_another(
        first in prop::collection::vec(fate(), 1..100),
        second in prop::collection::vec(fate(), 1..100),
        base in 1_000..u32::MAX / 2,
    ) {
        let mut detector = LossDetector::new(10, HOLD, IDLE);
        let mut expected = LossCounts::default();
        for (fates, base) in [(&first, base), (&second, 1)] {
            let mut model = Model::default();
            for number in arrivals(fates) {
                model.arrive(number, 0);
                detector.handle_packet(flow(1), SOURCE, EGRESS, wire(base, number), 0);
            }
            model.close(|_| true);
            expected.in_order += model.counts.in_order;
            expected.reordered += model.counts.reordered;
            expected.duplicate += model.counts.duplicate;
            expected.lost += model.counts.lost;
        }
        detector.flush();
        lost_numbers(&mut detector);
        let are_both = !arrivals(&first).is_empty() && !arrivals(&second).is_empty();
        expected.restarts = u64::from(are_both);
        prop_assert_eq!(detector.counts(), expected);
    }
}

#[test]
fn a_gap_is_a_loss_after_the_hold_time_and_not_before() {
    let mut detector = LossDetector::new(10, HOLD, IDLE);
    for number in [1, 2, 5] {
        assert_eq!(detector.handle_packet(flow(1), SOURCE, EGRESS, number, 1000), Arrival::InOrder);
    }
    detector.handle_timeout(1000 + HOLD - 1);
    assert_eq!(detector.poll_loss(), None);
    detector.handle_timeout(1000 + HOLD + 10_000_000);
    let gap = Gap { after: 2, missing: 2, opened_at: 1000 };
    assert_eq!(detector.poll_loss(), Some(Loss { flow: flow(1), source: SOURCE, egress: EGRESS, gap }));
    assert_eq!(detector.poll_loss(), None);
    assert_eq!(detector.handle_packet(flow(1), SOURCE, EGRESS, 3, 2 * HOLD + 1000), Arrival::Late);
    assert_eq!(detector.handle_packet(flow(1), SOURCE, EGRESS, 3, 2 * HOLD + 1000), Arrival::Duplicate);
}

#[test]
fn numbers_wrap_without_a_gap() {
    let mut detector = LossDetector::new(10, HOLD, IDLE);
    for number in [u32::MAX - 1, u32::MAX, 0, 1] {
        assert_eq!(detector.handle_packet(flow(1), SOURCE, EGRESS, number, 0), Arrival::InOrder);
    }
    assert_eq!(detector.handle_packet(flow(1), SOURCE, EGRESS, 4, 0), Arrival::InOrder);
    detector.flush();
    assert_eq!(detector.poll_loss().map(|loss| (loss.gap.after, loss.gap.missing)), Some((1, 2)));
}

#[test]
fn more_gaps_than_there_is_room_for_become_one_and_no_packet_is_forgotten() {
    let mut detector = LossDetector::new(10, HOLD, IDLE);
    for number in (1..=201).step_by(2) {
        detector.handle_packet(flow(1), SOURCE, EGRESS, number, 0);
    }
    assert_eq!(detector.handle_packet(flow(1), SOURCE, EGRESS, 198, 0), Arrival::Reordered);
    detector.flush();
    assert_eq!(lost_numbers(&mut detector), 99);
}

#[test]
fn flows_are_counted_apart_and_forgotten_after_silence() {
    let mut detector = LossDetector::new(2, HOLD, IDLE);
    for port in 1..=3 {
        detector.handle_packet(flow(port), SOURCE, EGRESS, 1, 0);
    }
    assert_eq!((detector.counts().in_order, detector.counts().unknown), (2, 1));
    detector.handle_timeout(IDLE);
    assert_eq!(detector.handle_packet(flow(3), SOURCE, EGRESS, 9, IDLE), Arrival::InOrder);
    assert_eq!(detector.handle_packet(flow(1), SOURCE, EGRESS, 9, IDLE), Arrival::InOrder, "it begins anew");
    detector.flush();
    assert_eq!(detector.poll_loss(), None);
}

#[test]
fn a_loss_is_told_in_the_format_of_host_int() {
    let gap = Gap { after: 41, missing: 3, opened_at: 1_700_000_000_900_000_000 };
    let loss = Loss { flow: flow(0x1234), source: SOURCE, egress: EGRESS, gap };
    let summary = loss.summary(9);

    let mut out = [0xa5; 100];
    let length = loss.host_int(summary, 17, 1_700_000_001_200_000_000).write(&mut out).unwrap();

    // Version 0, NProto 3, D and F; sequence; seconds. Then 24 bytes of summary, IPv4 and UDP.
    let mut expected = vec![0x03, 0xa0, 0, 0, 0, 0, 0, 17, 0x65, 0x53, 0xf1, 0x01];
    expected.extend([0, 0, 0, 7, 0, 0, 0, 9, 0, 3, 0, 5, 0x65, 0x53, 0xf1, 0x00, 0, 0, 0, 41, 0, 0, 0, 3]);
    expected.extend([0x45, 0, 0, 0, 0, 0, 0, 0, 0, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    // host-int-0.5/report-06: also the UDP length is 0.
    expected.extend([0x12, 0x34, 0, 80, 0, 0, 0, 0]);
    assert_eq!(out[..length], expected);
}

#[test]
fn a_loss_is_told_in_a_report_2_0_with_the_summary_of_host_int_as_its_domain_metadata() {
    let gap = Gap { after: 41, missing: 3, opened_at: 0 };
    let loss = Loss { flow: flow(0x1234), source: SOURCE, egress: EGRESS, gap };
    let summary = loss.summary(9);

    let mut datagram = vec![0x20, 0, 0, 1, 0, 0, 0, 9];
    let report = loss.with_report(&summary, 0x4849, |draft| {
        let mut out = vec![0xa5; draft.length()];
        draft.write(&mut out).unwrap();
        out
    });
    datagram.extend(report);

    let group = ReportGroup::parse(&datagram).unwrap();
    let report = group.reports().next().unwrap().unwrap();
    assert!(report.dropped() && report.tracked_flow() && !report.congested_queue());
    assert_eq!((report.domain_specific_id(), report.ds_md_bits()), (0x4849, 0x8000));
    assert_eq!(
        report.domain_metadata(),
        [0, 0, 0, 7, 0, 0, 0, 9, 0, 3, 0, 5, 0, 0, 0, 0, 0, 0, 0, 41, 0, 0, 0, 3]
    );
    assert_eq!(report.packet().unwrap().1.len(), 28);
}

#[test]
fn a_report_2_0_tells_the_flow_of_a_loss_whatever_it_is() {
    let v6 = |last| IpAddr::V6([0x2001, 0xdb8, 0, 0, 0, 0, 0, last].into());
    let flows = [
        flow(0x1234),
        FiveTuple { protocol: 6, ..flow(0x1234) },
        FiveTuple { source: v6(1), destination: v6(2), ..flow(0x1234) },
        FiveTuple { source: v6(1), destination: v6(2), protocol: 6, ..flow(0x1234) },
        FiveTuple { protocol: 132, source_port: 0, destination_port: 0, ..flow(0x1234) },
    ];
    for flow in flows {
        let loss =
            Loss { flow, source: SOURCE, egress: EGRESS, gap: Gap { after: 41, missing: 3, opened_at: 0 } };
        let told = loss.with_report(&loss.summary(9), 0x4849, |draft| {
            dissect(Link::Ip, draft.inner, &CodePoints::NONE, Strictness::Whole).flow
        });
        assert_eq!(told, Some(flow));
    }
}

#[test]
fn jumps_beyond_the_open_gaps_count_at_most_all_numbers() {
    let mut numbers = Numbers::new(0);
    // One number of two is missing, until no further gap is tracked on its own.
    for number in (2..=64).step_by(2) {
        assert_eq!(numbers.take(number, 1), Arrival::InOrder);
    }
    for jump in 1..=3_u32 {
        assert_eq!(numbers.take(0x7fff_ffff_u32.wrapping_mul(jump).wrapping_add(64), 1), Arrival::InOrder);
    }

    let missing: Vec<u32> = numbers.close(|_| true).map(|gap| gap.missing).collect();

    assert_eq!(missing.len(), 32);
    assert_eq!((missing[0], missing[31]), (1, u32::MAX));
}
