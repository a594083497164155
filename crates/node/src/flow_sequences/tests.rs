//! Flow sequence numbers, in bounded memory.

use inband_wire::FiveTuple;

use super::FlowSequences;

fn flow(source_port: u16, destination_port: u16) -> FiveTuple {
    FiveTuple { source_port, destination_port, ..FiveTuple::default() }
}

#[test]
fn every_flow_counts_from_one_on_its_own() {
    // host-int-0.5/packet-06
    let mut sequences = FlowSequences::default();
    let numbers = [1, 1, 2, 1, 3, 2].map(|port| {
        let foreseen = sequences.peek(&flow(port, 80));
        let next = sequences.next(&flow(port, 80));
        assert_eq!(foreseen, next.0);
        next
    });
    assert_eq!(numbers, [1, 2, 1, 3, 1, 2].map(|number| (number, false)));
}

#[test]
fn a_full_set_forgets_the_flow_that_was_quiet_longest() {
    let mut sequences = FlowSequences::default();
    let set = flow(0, 0).entropy() % 8192;
    let same_set = (0..u16::MAX)
        .flat_map(|high| (0..64).map(move |low| flow(high, low)))
        .filter(|flow| flow.entropy() % 8192 == set);
    let flows: Vec<_> = same_set.take(9).collect();
    assert!(flows[..8].iter().all(|flow| sequences.next(flow) == (1, false)));
    // The first is used again, so the second is the least recently active.
    assert_eq!(sequences.next(&flows[0]), (2, false));
    assert_eq!(sequences.next(&flows[8]), (1, true));
    assert_eq!(sequences.next(&flows[0]), (3, false));
    assert_eq!(sequences.next(&flows[2]), (2, false));
    assert_eq!(sequences.next(&flows[1]), (1, true));
}
