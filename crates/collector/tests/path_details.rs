//! Details of events of loops, links and paths.

mod support;

use inband_collector::{CollectorSettings, EdgeInterface, EventSettings, NumberSettings, PathSettings};
use inband_model::{EventDetail, EventKind, Loop, LoopSupport, Nanos, Phase, Severity};
use inband_wire::Words;
use inband_wire::int::shim::Shim;
use inband_wire::int::{HopMetadata, Instructions, MxHeader};
use zerocopy::IntoBytes;

use support::{
    INSTRUCTIONS, Lab, MdPacket, drop_of_queue, flow, hop, hop_via, hops, later_fragment, node_report,
    packet, phases, plain_packet, sink_report,
};

#[test]
fn the_same_packet_at_a_node_again_with_a_smaller_ttl_is_a_loop() {
    let mut lab = Lab::new();
    for (node_id, ttl, checksum) in [(1, 64, 7), (5, 63, 7), (5, 61, 7)] {
        identified(&mut lab, node_id, ttl, checksum, hop(node_id, 900, 0));
    }

    let events = lab.events(EventKind::Loop);

    let EventDetail::Loop(Loop { node_id, support, .. }) = &events[0].detail else { panic!("a loop") };
    assert_eq!((node_id.0, support.as_slice()), (5, &[LoopSupport::SmallerTtl][..]));
    assert_eq!(phases(&events), [Phase::Begin]);
}

#[test]
fn another_packet_or_the_same_ttl_is_no_loop() {
    let mut lab = Lab::new();
    // Another checksum, the same TTL again, and no checksum at all.
    for (ttl, checksum) in [(63, 7), (61, 8), (61, 8), (60, 0), (59, 0)] {
        identified(&mut lab, 5, ttl, checksum, hop(5, 900, 0));
    }

    assert_eq!(lab.events(EventKind::Loop), []);
}

#[test]
fn packets_of_a_busy_flow_loop_although_others_are_reported_in_between() {
    // As many as are between two visits of a packet, each with its own checksum.
    for packets in [2, 40] {
        let mut lab = Lab::new();
        for ttl in [63, 61, 59, 57] {
            for number in 1..=packets {
                identified(&mut lab, 5, ttl, number, hop(5, 900, 0));
            }
            for number in 1..=packets {
                identified(&mut lab, 6, ttl - 1, number, hop(6, 900, 0));
            }
        }

        assert_eq!(phases(&lab.events(EventKind::Loop)), [Phase::Begin], "{packets}");
    }
}

#[test]
fn a_packet_without_other_identity_is_known_by_the_number_of_its_source() {
    let numbers = NumberSettings { domain: Some(7), ..NumberSettings::default() };
    let events = EventSettings { sequence_gap: numbers, ..EventSettings::default() };
    let mut lab = Lab::with(CollectorSettings { events, ..CollectorSettings::default() });
    for (ttl, number) in [(63, 7_u32), (61, 7)] {
        let packet = numbered_packet(ttl, 7, number);
        lab.report(5, &node_report(&packet, hop(5, 900, 0)));
    }

    assert_eq!(phases(&lab.events(EventKind::Loop)), [Phase::Begin]);
}

#[test]
fn a_packet_whose_ttl_ran_out_supports_a_loop() {
    let mut lab = Lab::new();
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 2])).bytes()));
    // Reason 26: the TTL is zero.
    drop_of_queue(&mut lab, 1, 26, 3);
    let hairpin =
        MdPacket::new(&[hop(1, 9, 0), hop_via(5, 3, 4, 9, 0), hop(6, 9, 0), hop_via(5, 7, 8, 9, 0)]);
    lab.report(2, &sink_report(&hairpin.bytes()));

    let events = lab.events(EventKind::Loop);

    let EventDetail::Loop(detail) = &events[0].detail else { panic!("a loop") };
    assert_eq!(
        (detail.support.as_slice(), events[0].severity),
        (&[LoopSupport::TtlZeroDrop][..], Severity::Critical)
    );
}

#[test]
fn a_link_latency_says_how_wrong_its_clocks_may_make_it() {
    let mut lab = Lab::new();
    // The clock of node 2 is 300 ns ahead: what takes 500 ns each way looks like 800 and 200.
    for (from, to, link_ns) in [(1, 2, 800), (2, 1, 200), (1, 2, 900), (2, 1, 250)] {
        timed(&mut lab, (from, to), link_ns);
        timed(&mut lab, (from, to), link_ns);
    }

    let links: Vec<_> = lab.collector.topology().links;

    let forth = links.iter().find(|link| link.from.0 == 1).expect("a link");
    let latency = forth.latency.expect("timestamps");
    assert_eq!((latency.min, forth.clock_uncertainty), (Nanos(800), Some(Nanos(500))));
    assert!(latency.min.0 - 500 <= forth.clock_uncertainty.map_or(0, |span| span.0), "the truth is within");
}

#[test]
fn a_link_of_one_direction_may_be_wrong_by_any_amount() {
    let mut lab = Lab::new();
    for _ in 0..3 {
        timed(&mut lab, (1, 2), 800);
    }

    let link = lab.collector.links().next().expect("a link");

    assert_eq!((link.latency.map(|latency| latency.count), link.clock_uncertainty), (Some(2), None));
}

#[test]
fn reports_of_single_nodes_time_a_link_only_when_they_are_about_the_same_packet() {
    let mut lab = Lab::new();
    let at = |node_id, came_at| HopMetadata {
        ingress_timestamp: Some(came_at),
        egress_timestamp: Some(came_at + 100),
        ..hop(node_id, 100, 0)
    };
    for (checksum, came_at) in [(7, 1_000), (8, 5_000)] {
        identified(&mut lab, 1, 64, checksum, at(1, came_at));
        identified(&mut lab, 5, 63, checksum, at(5, came_at + 700));
        lab.wait(Nanos::from_secs(2));
    }
    // Another packet than the last one of node 1.
    identified(&mut lab, 5, 63, 9, at(5, 99_000));

    let link = lab.collector.links().next().expect("a link");

    let latency = link.latency.expect("one packet");
    assert_eq!((latency.count, latency.last), (1, Nanos(600)));
}

#[test]
fn a_path_is_complete_between_edges_where_edges_are_named() {
    let complete = |edges: &[(u32, u16)]| {
        let edges =
            edges.iter().map(|(node, interface)| EdgeInterface { node: *node, interface: *interface });
        let paths = PathSettings { edges: edges.collect(), ..PathSettings::default() };
        let mut lab = Lab::with(CollectorSettings { paths, ..CollectorSettings::default() });
        lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 2])).bytes()));
        lab.only_flow().complete
    };

    assert!(complete(&[]));
    assert!(complete(&[(1, 1), (2, 2)]));
    assert!(!complete(&[(1, 1)]) && !complete(&[(2, 2), (1, 2)]));
}

fn identified(lab: &mut Lab, node_id: u32, ttl: u8, checksum: u8, metadata: HopMetadata) {
    let mut packet = plain_packet(&flow(1), ttl);
    packet[5] = 9;
    packet[27] = checksum;
    lab.report(node_id, &node_report(&packet, metadata));
}

fn timed(lab: &mut Lab, (from, to): (u32, u32), link_ns: u64) {
    let stamped = |metadata, came_at| HopMetadata {
        ingress_timestamp: Some(came_at),
        egress_timestamp: Some(came_at + 100),
        ..metadata
    };
    let hops =
        [stamped(hop_via(from, 9, 2, 100, 0), 10_000), stamped(hop_via(to, 2, 9, 100, 0), 10_100 + link_ns)];
    let packet =
        MdPacket { flow: flow(from), instructions: Instructions(0xfc00), ..MdPacket::new(&hops) }.bytes();
    lab.report(to, &sink_report(&packet));
}

#[test]
fn a_later_fragment_is_no_flow_with_ports_0() {
    let mut lab = Lab::new();
    let whole = plain_packet(&flow(1), 64);
    let fragment = later_fragment(whole.clone());

    for packet in [&whole, &fragment] {
        lab.report(5, &node_report(packet, hop(5, 900, 0)));
    }

    assert_eq!(lab.only_flow().flow, flow(1));
    assert_eq!(lab.collector.nodes()[0].reports, 2);
    assert_eq!(lab.collector.nodes()[0].latency.map(|latency| latency.count), Some(2));
}

/// An INT-MX packet without checksum whose source inserted a number as metadata of a domain.
fn numbered_packet(ttl: u8, domain: u16, number: u32) -> Vec<u8> {
    let mut header = MxHeader::new(INSTRUCTIONS);
    header.set_domain(domain, 0x8000, 0);
    let mut int = Shim::payload(3, Words::new(4), 0).as_bytes().to_vec();
    int.extend_from_slice(header.as_bytes());
    int.extend_from_slice(&number.to_be_bytes());
    packet(&flow(1), ttl, 0x17, &int)
}
