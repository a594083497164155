//! Events of drops that last: all flows and packets since the event began, and which flows are blackholed.

mod support;

use inband_collector::{CollectorSettings, DropSettings, EventSettings, PathSettings};
use inband_model::{Drop as DropDetail, DropClass, Event, EventDetail, EventKind, Flow, Nanos, Phase};
use inband_wire::report::Drop;

use support::{Lab, MdPacket, dropped, flow, hop, hops, node_report, phases, plain_packet, sink_report};

/// A drop reason without a route.
const MISS: u8 = 29;
/// A drop reason of an access list.
const DENIED: u8 = 80;

#[test]
fn the_end_of_a_drop_event_has_all_flows_and_packets_since_its_begin() {
    let mut lab = Lab::new();
    for _ in 0..950 {
        drop_of(&mut lab, 1, MISS);
        lab.wait(Nanos::from_millis(10));
    }
    lab.wait(Nanos::from_millis(500));
    for _ in 0..20 {
        drop_of(&mut lab, 2, MISS);
        lab.wait(Nanos::from_millis(10));
    }
    lab.wait(Nanos::from_secs(20));

    let events = lab.events(EventKind::Drop);

    let ends: Vec<_> = events.iter().filter(|event| event.phase == Phase::End).collect();
    assert_eq!((events.len(), ends.len()), (4, 2), "{events:#?}");
    for end in ends {
        let detail = detail(end);
        assert_eq!((end.count, detail.reports, detail.packets), (970, 970, 970), "{:?}", detail.class);
        assert_eq!((detail.flow_count, detail.flows.as_slice()), (2, &[flow(1), flow(2)][..]));
    }
}

#[test]
fn the_next_drop_event_of_a_place_counts_anew() {
    let mut lab = Lab::new();
    for number in [1, 2] {
        drop_of(&mut lab, number, DENIED);
        lab.wait(Nanos::from_secs(10));
    }

    let events = lab.events(EventKind::Drop);

    assert_eq!(phases(&events), [Phase::Begin, Phase::End, Phase::Begin, Phase::End]);
    let last = detail(&events[3]);
    assert_eq!((events[3].count, last.packets, last.flows.as_slice()), (1, 1, &[flow(2)][..]));
}

#[test]
fn drops_that_are_reported_once_an_epoch_are_one_event() {
    for (settings, interval) in [
        (DropSettings::default(), Nanos(1 << 30)),
        (DropSettings::default(), Nanos::from_millis(1_500)),
        (DropSettings::default(), Nanos(2 << 30)),
        (DropSettings { window_ms: 0, blackhole_after_ns: 0, ..DropSettings::default() }, Nanos(1 << 30)),
    ] {
        let events = EventSettings { drop: settings, ..EventSettings::default() };
        let mut lab = Lab::with(CollectorSettings { events, ..CollectorSettings::default() });
        for _ in 0..20 {
            drop_of(&mut lab, 1, MISS);
            lab.wait(interval);
        }
        lab.wait(Nanos::from_secs(10));

        let events = lab.events(EventKind::Drop);

        let of = |is_hole: bool| {
            let hole = |event: &&Event| event.key.ends_with(" blackhole") == is_hole;
            events.iter().filter(hole).map(|event| (event.phase, event.count)).collect::<Vec<_>>()
        };
        assert_eq!(of(false), [(Phase::Begin, 1), (Phase::End, 20)], "{interval:?}");
        assert_eq!(of(true), [(Phase::Begin, 1), (Phase::End, 20)], "{interval:?}");
    }
}

#[test]
fn a_flow_that_gets_past_a_node_hides_no_blackhole_of_others() {
    let mut lab = Lab::new();
    for step in 0..100 {
        for number in 1..=8 {
            drop_of(&mut lab, number, MISS);
        }
        // Now and then a packet of this flow is dropped; the others get past.
        if step % 10 == 0 {
            drop_of(&mut lab, 9, MISS);
        }
        let packet = MdPacket { flow: flow(9), ..MdPacket::new(&hops(&[1, 5, 2])) };
        lab.report(2, &sink_report(&packet.bytes()));
        lab.wait(Nanos::from_millis(100));
    }
    lab.wait(Nanos::from_secs(10));

    let holes = blackholes(&lab.events(EventKind::Drop));

    let gone: Vec<Flow> = (1..=8).map(flow).collect();
    assert_eq!(holes.iter().map(|(phase, ..)| *phase).collect::<Vec<_>>(), [Phase::Begin, Phase::End]);
    assert_eq!((holes[0].1.flows.as_slice(), holes[1].1.flows.as_slice()), (&gone[..], &gone[..]));
    assert_eq!((holes[1].2, holes[1].1.packets, holes[1].1.flow_count), (800, 800, 8));
}

#[test]
fn flows_beyond_those_that_are_named_are_judged_too() {
    let mut lab = Lab::new();
    for number in 0..40 {
        let packet = MdPacket { flow: flow(number), ..MdPacket::new(&hops(&[1, 5, 2])) };
        lab.report(2, &sink_report(&packet.bytes()));
    }
    for _ in 0..20 {
        for number in 0..41 {
            drop_of(&mut lab, number, MISS);
        }
        for number in 0..40 {
            let packet = MdPacket { flow: flow(number), ..MdPacket::new(&hops(&[1, 5, 2])) };
            lab.report(2, &sink_report(&packet.bytes()));
        }
        lab.wait(Nanos::from_millis(200));
    }

    let holes = blackholes(&lab.events(EventKind::Drop));

    assert_eq!(holes.iter().map(|(_, detail, _)| detail.flows.as_slice()).collect::<Vec<_>>(), [[flow(40)]]);
}

#[test]
fn a_flow_that_was_evicted_is_in_no_blackhole() {
    let paths = PathSettings { max_flows: 20, ..PathSettings::default() };
    let mut lab = Lab::with(CollectorSettings { paths, ..CollectorSettings::default() });
    for step in 0..60 {
        for number in 0..200 {
            let packet = MdPacket { flow: flow(number), ..MdPacket::new(&hops(&[1, 5, 2])) };
            lab.report(2, &sink_report(&packet.bytes()));
            lab.wait(Nanos::from_micros(500));
        }
        if step % 10 == 0 {
            drop_of(&mut lab, 7, MISS);
        }
    }
    lab.wait(Nanos::from_secs(3));

    let events = lab.events(EventKind::Drop);

    assert!(!events.is_empty());
    assert_eq!(blackholes(&events), []);
}

#[test]
fn every_flow_of_a_drop_event_is_counted() {
    let mut lab = Lab::new();
    for _ in 0..2 {
        for number in 0..100 {
            drop_of(&mut lab, number, MISS);
        }
        lab.wait(Nanos::from_secs(2));
    }
    lab.wait(Nanos::from_secs(10));

    for event in lab.events(EventKind::Drop) {
        let detail = detail(&event);
        assert_eq!((detail.flow_count, detail.flows.len()), (100, 32), "{:?}", event.phase);
    }
}

#[test]
fn a_queue_that_was_congested_once_is_a_congestion_loss_to_the_end() {
    let mut lab = Lab::new();
    lab.report(5, &node_report(&plain_packet(&flow(1), 64), hop(5, 500_000, 9)));
    // Reason 71: the traffic manager.
    for _ in 0..3 {
        drop_of(&mut lab, 1, 71);
        lab.wait(Nanos::from_secs(2));
    }
    lab.wait(Nanos::from_secs(10));

    let events = lab.events(EventKind::Drop);

    let classes: Vec<_> = events.iter().map(|event| (event.phase, detail(event).class)).collect();
    let class = DropClass::CongestionLoss;
    assert_eq!(classes, [(Phase::Begin, class), (Phase::End, class)]);
}

/// Node 5 reports that it dropped a packet of a flow.
fn drop_of(lab: &mut Lab, number: u32, reason: u8) {
    let packet = plain_packet(&flow(number), 63);
    lab.report(5, &dropped(&node_report(&packet, hop(5, 900, 0)), Some(Drop { queue_id: 0, reason })));
}

/// The phase, detail and count of each event of a blackhole.
fn blackholes(events: &[Event]) -> Vec<(Phase, DropDetail, u64)> {
    let is_hole = |event: &&Event| detail(event).class == DropClass::Blackhole;
    events.iter().filter(is_hole).map(|event| (event.phase, detail(event).clone(), event.count)).collect()
}

fn detail(event: &Event) -> &DropDetail {
    match &event.detail {
        EventDetail::Drop(drop) => drop,
        other => panic!("not a drop: {other:?}"),
    }
}
