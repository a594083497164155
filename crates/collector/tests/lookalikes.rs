//! Announcements when several things happen at once, and lookalikes that must not be announced.

mod support;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use inband_collector::Output;
use inband_model::{EventDetail, EventKind, Nanos, Observation, Phase};
use inband_wire::int::{HopMetadata, Instructions};

use support::{
    Lab, MdPacket, datagram, flow, hop, hop_via, hops, node_report, nodes, plain_packet, sink_report,
};

#[test]
fn a_path_that_changes_while_every_third_report_is_lost_changes_once() {
    let mut lab = Lab::new();
    for number in 0..6_000 {
        let spine = if number < 3_000 { 11 } else { 12 };
        if number % 3 != 1 {
            lab.numbered(2, number, &sink_report(&MdPacket::new(&hops(&[1, spine, 2])).bytes()));
        }
        lab.wait(Nanos::from_millis(1));
    }
    lab.wait(Nanos::from_secs(5));

    let expected = [
        ("ecmp-move", 1),
        // After three epochs without a flow on the old links.
        ("reroute end", 1),
        ("new-flow once", 1),
        ("path", 2),
        ("report-loss begin", 1),
    ];
    assert_eq!(told(&mut lab), counts(&expected));
    assert_eq!(lab.collector.ledger().lost, 2_000);
}

#[test]
fn packets_that_are_sprayed_over_two_paths_are_one_flap_and_a_path_a_second() {
    let mut lab = Lab::new();
    for number in 0..10_000 {
        let spine = if number % 2 == 0 { 11 } else { 12 };
        lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, spine, 2])).bytes()));
        lab.wait(Nanos::from_micros(500));
    }
    // The flow settles, and the path it keeps is the last one reported.
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 13, 2])).bytes()));
    lab.wait(Nanos::from_secs(2));

    let paths = lab.path_observations();
    assert_eq!(paths.last().map(nodes), Some(vec![1, 13, 2]));
    assert!((4..12).contains(&paths.len()), "{} paths", paths.len());
    assert_eq!(
        told(&mut lab),
        counts(&[("ecmp-move", 2), ("ecmp-move end", 2), ("flap", 1), ("new-flow once", 1)])
    );
}

#[test]
fn a_link_that_takes_the_place_of_another_between_two_looks_is_no_imbalance() {
    let mut lab = Lab::new();
    // Links 2 and 3 carry the same; 2 goes out of service; 4, which was used once, replaces 2.
    let egress = |step: u16| match step {
        0 => 4,
        1..1_000 => 2 + step % 2,
        1_000..1_600 => 3,
        _ => 3 + step % 2,
    };
    for step in 0..4_000 {
        let hops = [hop_via(1, 1, egress(step), 900, 0), hop(11, 900, 0), hop(2, 900, 0)];
        lab.report(2, &sink_report(&MdPacket { flow: flow(1), ..MdPacket::new(&hops) }.bytes()));
        lab.wait(Nanos::from_millis(5));
    }
    assert_eq!(lab.events(EventKind::EcmpImbalance), []);
}

#[test]
fn links_that_carry_most_in_turn_are_equal_by_their_means() {
    for (in_turn, events) in [(true, false), (false, true)] {
        let mut lab = Lab::new();
        for step in 0..9_000_u16 {
            // Nine of ten packets take one link, in each second another one, or always the same.
            let favoured = if in_turn { 2 + step / 200 % 2 } else { 2 };
            let egress = if step.is_multiple_of(10) { 5 - favoured } else { favoured };
            let hops = [hop_via(1, 1, egress, 900, 0), hop(u32::from(egress) + 9, 900, 0), hop(2, 900, 0)];
            let packet = MdPacket { flow: flow(u32::from(egress)), ..MdPacket::new(&hops) };
            lab.report(2, &sink_report(&packet.bytes()));
            lab.wait(Nanos::from_millis(5));
        }
        assert_eq!(!lab.events(EventKind::EcmpImbalance).is_empty(), events, "in turn: {in_turn}");
    }
}

#[test]
fn a_clock_that_steps_inside_a_node_changes_no_hop_latency() {
    let mut lab = Lab::new();
    for number in 0..2_000_u64 {
        let at = 1_700_000_000_000_000_000 + number * 1_000_000;
        // The clock of node 11 goes back by a second between ingress and egress of one packet.
        let [before, behind] =
            [number > 1_000, number >= 1_000].map(|steps| u64::from(steps) * 1_000_000_000);
        let way = [
            timed(1, at, at + 900),
            timed(11, at + 1_400 - before, at + 2_300 - behind),
            timed(2, at + 2_800, at + 3_700),
        ];
        let packet = MdPacket { instructions: Instructions(0xdc00), ..MdPacket::new(&way) };
        lab.report(2, &sink_report(&packet.bytes()));
        lab.wait(Nanos::from_millis(1));
    }

    let expected = [("negative-link-latency begin", 1), ("new-flow once", 1), ("path", 1)];
    assert_eq!(told(&mut lab), counts(&expected));
    for port in lab.collector.ports() {
        assert_eq!(port.latency.map(|latency| (latency.min, latency.max)), Some((Nanos(900), Nanos(900))));
    }
}

#[test]
fn two_switches_with_one_id_are_announced_and_no_datagram_is_lost_for_it() {
    // Numbers of both far apart, and numbers of one just ahead of those of the other.
    for (apart, duplicate) in [(1_200_000, 0), (200, 2_800)] {
        let mut lab = Lab::new();
        let other = SocketAddr::from(([10, 0, 0, 9], 6000));
        for number in 0..3_000 {
            let packets = [1, 2].map(|number| plain_packet(&flow(number), 63));
            let [first, second] = packets.each_ref().map(|packet| node_report(packet, hop(7, 900, 0)));
            lab.datagram(&datagram(7, 1_000 + number, &[&first]));
            lab.datagram_from(other, &datagram(7, 1_000 + apart + number, &[&second]));
            lab.wait(Nanos::from_millis(1));
        }
        lab.wait(Nanos::from_secs(5));

        let told = told(&mut lab);
        assert_eq!(told.get("duplicate-node-id begin"), Some(&1), "{told:?}");
        assert!(!told.keys().any(|name| name.starts_with("report-loss")), "{told:?}");
        let ledger = lab.collector.ledger();
        assert_eq!((ledger.received, ledger.duplicate, ledger.lost), (6_000, duplicate, 0), "{ledger:?}");
        assert!(ledger.balances());
    }
}

#[test]
fn a_node_whose_address_fails_over_and_returns_later_is_not_two() {
    let mut lab = Lab::new();
    let addresses = [1, 9].map(|last| SocketAddr::from(([10, 0, 0, last], 6000)));
    let packet = plain_packet(&flow(1), 63);
    let report = node_report(&packet, hop(7, 900, 0));
    // Three changes at once, and the return two minutes later.
    for (number, (address, wait_s)) in (1..).zip([(0, 1), (1, 1), (0, 1), (1, 117), (0, 5)]) {
        lab.datagram_from(addresses[address], &datagram(7, number, &[&report]));
        lab.wait(Nanos::from_secs(wait_s));
    }

    assert_eq!(lab.events(EventKind::DuplicateNodeId), []);
}

#[test]
fn a_sink_that_stops_reporting_is_one_suspect_link_until_it_reports_again() {
    let mut lab = Lab::new();
    for round in 0..30 {
        for number in 1..=4 {
            for (node, ttl) in [(1, 64), (11, 63), (2, 62)] {
                if node != 2 || !(10..20).contains(&round) {
                    lab.report(node, &node_report(&plain_packet(&flow(number), ttl), hop(node, 900, 0)));
                }
            }
        }
        lab.wait(Nanos(1 << 30));
    }
    lab.wait(Nanos::from_secs(65));

    let told = told(&mut lab);
    assert_eq!(told.get("silent-loss begin"), Some(&1), "{told:?}");
    assert_eq!(told.get("silent-loss end"), Some(&1), "{told:?}");
    assert_eq!((told.get("flap"), told.get("report-loss begin"), told.get("loop begin")), (None, None, None));
}

#[test]
fn a_dead_link_is_named_although_nodes_behind_it_report_at_other_times_of_an_epoch() {
    let mut lab = Lab::new();
    // The link from 2 to 3 dies between the reports of 3 and 4.
    for round in 0..30 {
        for (node, ttl, offset_ms) in [(1, 64, 0), (2, 63, 200), (3, 62, 400), (4, 61, 600)] {
            let dies_at = if node == 4 { 9 } else { 10 };
            if node < 3 || round < dies_at {
                for number in 1..=3 {
                    lab.report(node, &node_report(&plain_packet(&flow(number), ttl), hop(node, 900, 0)));
                }
            }
            lab.wait(if node == 4 {
                Nanos((1 << 30) - offset_ms * 1_000_000)
            } else {
                Nanos::from_millis(200)
            });
        }
    }

    let suspects = lab.events(EventKind::SilentLoss);
    let keys: Vec<_> = suspects.iter().map(|event| event.key.as_str()).collect();
    assert_eq!(keys, ["node 2 egress 2 to node 3 ingress 1"]);
}

/// A hop with times and without a latency.
fn timed(node_id: u32, ingress: u64, egress: u64) -> HopMetadata {
    HopMetadata {
        hop_latency: None,
        ingress_timestamp: Some(ingress),
        egress_timestamp: Some(egress),
        ..hop(node_id, 0, 0)
    }
}

/// How often each kind of event was announced, and how often a path was reported.
fn told(lab: &mut Lab) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for output in lab.outputs() {
        let name = match output {
            Output::Observation(Observation::Path(_)) => "path".to_owned(),
            Output::Observation(_) => continue,
            Output::Event(event) => {
                let json = serde_json::to_value(&event).expect("events are serialisable");
                match &event.detail {
                    EventDetail::PathChange(_) => {
                        let end = if event.phase == Phase::End { " end" } else { "" };
                        format!("{}{end}", json["detail"]["change"].as_str().unwrap_or_default())
                    }
                    _ => format!("{} {}", event.kind(), json["phase"].as_str().unwrap_or_default()),
                }
            }
        };
        *counts.entry(name).or_default() += 1;
    }
    counts
}

fn counts(expected: &[(&str, usize)]) -> BTreeMap<String, usize> {
    expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}
