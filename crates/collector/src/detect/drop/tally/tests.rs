//! The number of flows is exact up to its bounds.

use std::net::{IpAddr, Ipv4Addr};

use inband_model::Flow;

use super::{Flows, MAX_COUNTED, MAX_NAMED, Room};

#[test]
fn flows_are_counted_exactly_and_the_first_are_named() {
    for number in [1, 32, 33, 100, 4_096] {
        let (flows, _) = counted(0..number, MAX_COUNTED);
        let again = (0..number).chain(0..number);
        assert_eq!(flows.count(), u64::from(number));
        assert_eq!(counted(again, MAX_COUNTED).0.count(), u64::from(number));
        assert_eq!(flows.named().len(), MAX_NAMED.min(number as usize));
        assert_eq!(flows.named()[0], flow(0));
    }
}

#[test]
fn flows_of_both_halves_are_counted_once() {
    for (first, second, all) in
        [(0..20, 10..40, 40), (0..100, 50..150, 150), (0..10, 0..100, 100), (0..100, 90..95, 100)]
    {
        let (mut flows, mut ids) = counted(first, MAX_COUNTED * 2);
        let mut other = Flows::default();
        second.for_each(|number| other.add(&flow(number), &mut ids));

        flows.merge(other, &mut ids);

        assert_eq!(flows.count(), all);
        let held = if all > MAX_NAMED as u64 { flows.ids.len() } else { 0 };
        assert!(ids.take(MAX_COUNTED * 2 - held) && !ids.take(1), "all other room is free");
    }
}

#[test]
fn no_more_flows_are_counted_than_there_is_room_for() {
    assert_eq!(counted(0..10_000, usize::MAX).0.count(), MAX_COUNTED as u64);
    assert_eq!(counted(0..10_000, 100).0.count(), 100);
    assert_eq!(counted(0..10_000, 0).0.count(), MAX_NAMED as u64);
}

/// The flows of these numbers, with room for `room` ids, and the room that is left.
fn counted(numbers: impl Iterator<Item = u32>, room: usize) -> (Flows, Room) {
    let (mut flows, mut ids) = (Flows::default(), Room::new(room));
    numbers.for_each(|number| flows.add(&flow(number), &mut ids));
    (flows, ids)
}

fn flow(number: u32) -> Flow {
    Flow {
        source: IpAddr::V4(Ipv4Addr::from(number)),
        destination: IpAddr::V4(Ipv4Addr::LOCALHOST),
        protocol: 17,
        source_port: 1,
        destination_port: 2,
    }
}
