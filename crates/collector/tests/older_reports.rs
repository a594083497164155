//! Conclusions from reports of the versions before 2.0.

mod support;

use std::net::SocketAddr;

use inband_collector::CollectorSettings;
use inband_model::{EventDetail, EventKind, Hop, Nanos, NodeId, Observation, Origin, StreamLedger};
use inband_wire::int::HopMetadata;
use inband_wire::report::earlier::DraftVersion;
use inband_wire::report::{Draft, Drop};

use support::{
    Lab, MdPacket, datagram, flow, hop, hop_via, hops, node_report, nodes, older_datagram, plain_packet,
    sender, sink_report,
};

/// The UDP payload of a hand-built packet, which starts with Ethernet, IPv4 and UDP.
macro_rules! payload {
    ($name:literal) => {
        payload(include_str!(concat!("../../../testdata/packets/", $name, ".hex")))
    };
}

/// The UDP payload of a packet that another program sent.
macro_rules! captured {
    ($name:literal) => {
        payload(include_str!(concat!("../../../testdata/captured/", $name, ".hex")))
    };
}

fn payload(text: &str) -> Vec<u8> {
    frame(text).split_off(42)
}

/// A hand-built packet from its Ethernet header on.
fn frame(text: &str) -> Vec<u8> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let digits: Vec<u32> = lines.flat_map(str::chars).filter_map(|c| c.to_digit(16)).collect();
    let bytes = digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).expect("two digits"));
    bytes.collect()
}

/// A datagram of an older version with `report`, of node 2 unless it contains no node id.
fn older(version: DraftVersion, sequence: u32, report: &Draft<'_>) -> Vec<u8> {
    older_datagram(2, version, sequence, report)
}

fn streams(lab: &Lab) -> Vec<StreamLedger> {
    lab.collector.ledger_view().streams
}

fn from(last: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, last], 6000))
}

/// The report of a sink whose id is only in the stack.
fn unnamed(sequence: u32) -> Vec<u8> {
    let packet = MdPacket::new(&hops(&[1, 11, 2])).bytes();
    older(DraftVersion::V0_5, sequence, &sink_report(&packet))
}

/// A drop report of the same sink, which contains its id.
fn named(node_id: u32, sequence: u32) -> Vec<u8> {
    let packet = plain_packet(&flow(2), 64);
    let drop = Some(Drop { queue_id: 0, reason: 80 });
    let report = Draft { dropped: true, tracked_flow: false, drop, ..sink_report(&packet) };
    older_datagram(node_id, DraftVersion::V0_5, sequence, &report)
}

#[test]
fn reports_of_every_version_are_accepted_and_their_streams_say_which_it_is() {
    let mut lab = Lab::new();
    for bytes in [
        payload!("report-0.5-local-flow"),
        payload!("report-1.0-xd-all-metadata"),
        payload!("report-2.0-ex1-baseline-ipv4"),
        payload!("host-int-drop-summary-report"),
    ] {
        lab.datagram(&bytes);
    }
    let ledger = lab.collector.ledger();
    assert_eq!((ledger.received, ledger.accepted, ledger.accepted_reports), (4, 4, 4));
    let found: Vec<_> =
        streams(&lab).into_iter().map(|stream| (stream.version, stream.node_id.0, stream.hw_id)).collect();
    let expected = [("0.5", 1, 0), ("1.0", 3, 5), ("2.0", 3, 0), ("0.5", 3, 0)];
    assert_eq!(found, expected.map(|(version, node_id, hw_id)| (version.to_owned(), node_id, hw_id)));
}

#[test]
fn the_numbers_of_older_versions_have_32_bits() {
    let packet = plain_packet(&flow(1), 64);
    let report = node_report(&packet, hop(2, 900, 0));
    for (version, numbers) in [
        // Crossing 2^22 is one step forward, not a restart.
        (DraftVersion::V1_0, [0x003f_ffff, 0x0040_0000, 0x0040_0001]),
        (DraftVersion::V0_5, [0xffff_fffe, 0xffff_ffff, 0]),
    ] {
        let mut lab = Lab::new();
        for number in numbers {
            lab.datagram(&older(version, number, &report));
        }
        lab.wait(Nanos::from_secs(1));
        let ledger = lab.collector.ledger();
        assert_eq!((ledger.accepted, ledger.lost, ledger.duplicate, ledger.late), (3, 0, 0, 0));
        assert!(lab.events(EventKind::SequenceReset).is_empty());
    }
}

#[test]
fn a_missing_report_is_noticed_in_every_version() {
    let packet = plain_packet(&flow(1), 64);
    let report = node_report(&packet, hop(2, 900, 0));
    for version in [DraftVersion::V0_5, DraftVersion::V1_0] {
        let mut lab = Lab::new();
        for number in [1, 2, 4, 4] {
            lab.datagram(&older(version, number, &report));
        }
        lab.wait(Nanos::from_secs(1));
        let ledger = lab.collector.ledger();
        assert_eq!((ledger.accepted, ledger.lost, ledger.duplicate), (3, 1, 1));
    }
}

#[test]
fn reports_without_a_node_id_are_told_apart_by_their_address() {
    let mut lab = Lab::new();
    for number in [1, 2, 3] {
        lab.datagram_from(from(1), &unnamed(number));
        lab.datagram_from(from(2), &unnamed(number));
    }
    lab.wait(Nanos::from_secs(1));
    let ledger = lab.collector.ledger();
    assert_eq!((ledger.accepted, ledger.duplicate, ledger.lost), (6, 0, 0));
    let found: Vec<_> = streams(&lab).into_iter().map(|stream| (stream.node_id, stream.source)).collect();
    let unknown = |last| (NodeId::NOT_AVAILABLE, Some(from(last).ip()));
    assert_eq!(found, [unknown(1), unknown(2)]);
}

#[test]
fn a_node_that_names_itself_now_and_then_has_one_stream() {
    let mut lab = Lab::new();
    lab.datagram_from(from(1), &named(2, 1));
    for number in [2, 3, 5, 6] {
        lab.datagram_from(from(1), &unnamed(number));
    }
    lab.datagram_from(from(1), &named(2, 4));
    lab.wait(Nanos::from_secs(1));
    let ledger = lab.collector.ledger();
    assert_eq!((ledger.accepted, ledger.reordered, ledger.lost), (6, 1, 0));
    let streams = streams(&lab);
    assert_eq!((streams.len(), streams[0].node_id, streams[0].source), (1, NodeId(2), None));
}

#[test]
fn reports_lost_before_a_node_first_names_itself_are_lost_in_its_stream() {
    let mut lab = Lab::new();
    for number in 0..95 {
        lab.datagram_from(from(1), &unnamed(number));
    }
    for number in 105..200 {
        lab.datagram_from(from(1), &named(2, number));
    }
    lab.wait(Nanos::from_secs(1));

    let ledger = lab.collector.ledger();
    assert_eq!((ledger.accepted, ledger.lost), (190, 10));
    let streams = streams(&lab);
    assert_eq!((streams.len(), streams[0].node_id, streams[0].source), (1, NodeId(2), None));
}

#[test]
fn the_stream_of_an_address_of_several_nodes_is_given_to_none_of_them() {
    let mut lab = Lab::new();
    for (node_id, number) in [(2, 50), (3, 70), (2, 51), (3, 71)] {
        lab.datagram_from(from(1), &named(node_id, number));
    }
    for number in 1..4 {
        lab.datagram_from(from(1), &unnamed(number));
    }
    lab.datagram_from(from(1), &named(4, 900));
    lab.wait(Nanos::from_secs(1));

    assert_eq!((lab.collector.ledger().accepted, lab.collector.ledger().lost), (8, 0));
    assert_eq!(streams(&lab).len(), 4);
}

#[test]
fn a_node_numbers_reports_of_host_int_and_of_0_5_together() {
    let mut lab = Lab::new();
    for sequence in [1_u32, 3, 5] {
        let mut latency = payload!("host-int-latency-report-nodeid");
        latency[4..8].copy_from_slice(&sequence.to_be_bytes());
        lab.datagram(&latency);
        lab.datagram(&named(3, sequence + 1));
    }
    lab.wait(Nanos::from_secs(1));

    let ledger = lab.collector.ledger();
    assert_eq!((ledger.accepted, ledger.lost, ledger.late), (6, 0, 0));
    assert_eq!(streams(&lab).len(), 1);
}

#[test]
fn a_loss_of_an_unnamed_node_is_announced_by_its_address() {
    let mut lab = Lab::new();
    for number in [1, 3] {
        lab.datagram_from(from(7), &unnamed(number));
    }
    lab.wait(Nanos::from_secs(1));
    let events = lab.events(EventKind::ReportLoss);
    assert_eq!(events.len(), 1);
    assert!(events[0].key.starts_with("node at 10.0.0.7 hw 0"), "{}", events[0].key);
}

#[test]
fn stacks_of_older_versions_tell_the_path() {
    for (bytes, expected) in [
        (payload!("report-0.5-ethernet-embedded-int"), vec![0x1111_1111, 0x2222_2222]),
        (payload!("report-1.0-sink-ethernet-embedded"), vec![0x1111_1111, 0x2222_2222]),
        (payload!("host-int-latency-report-nodeid"), vec![2, 3]),
        (payload!("host-int-latency-report-no-nodeid"), vec![2, 3]),
        // Written by Host-INT's own daemon for a packet from this project's source.
        (captured!("host-int-1.0.0-latency-report"), vec![11, 12]),
    ] {
        let mut lab = Lab::new();
        lab.datagram(&bytes);
        let paths = lab.path_observations();
        assert_eq!(paths.iter().map(nodes).collect::<Vec<_>>(), [expected]);
        assert_eq!(paths[0].origin, Origin::MdStack);
        assert!(lab.only_flow().path_is_complete());
    }
}

#[test]
fn a_sink_of_1_0_that_speaks_of_its_own_hop_is_last_on_the_path() {
    let packet = MdPacket::new(&hops(&[1, 11])).bytes();
    for version in [DraftVersion::V1_0, DraftVersion::V0_5] {
        let mut lab = Lab::new();
        let report = Draft { own_hop: true, ..node_report(&packet, hop(2, 900, 0)) };
        lab.datagram(&older(version, 1, &report));
        assert_eq!(lab.paths(), [[1, 11, 2]], "{version:?}");
    }
}

#[test]
fn a_sink_whose_hop_is_in_the_stack_is_there_once() {
    for version in [DraftVersion::V1_0, DraftVersion::V0_5] {
        let mut lab = Lab::new();
        let packet = MdPacket::new(&hops(&[1, 11, 2])).bytes();
        lab.datagram(&older(version, 1, &sink_report(&packet)));
        assert_eq!(lab.paths(), [[1, 11, 2]], "{version:?}");
    }
}

#[test]
fn local_reports_of_several_nodes_tell_a_path() {
    for version in [DraftVersion::V1_0, DraftVersion::V0_5] {
        let mut lab = Lab::new();
        for (node_id, ttl) in [(1, 64), (11, 63), (2, 62)] {
            let packet = plain_packet(&flow(1), ttl);
            let report = node_report(&packet, hop_via(node_id, 1, 2, 900, 0));
            lab.datagram(&older_datagram(node_id, version, 1, &report));
        }
        lab.wait(Nanos::from_secs(2));
        assert_eq!(lab.paths(), [[1, 11, 2]], "{version:?}");
    }
}

/// The latencies derived from these timestamps of a node.
fn latencies(ingress: u64, egress: u64) -> Vec<Nanos> {
    let packet = plain_packet(&flow(1), 64);
    let metadata = HopMetadata {
        ingress_timestamp: Some(ingress),
        egress_timestamp: Some(egress),
        hop_latency: None,
        ..hop(2, 0, 0)
    };
    let mut settings = inband_collector::CollectorSettings::default();
    settings.paths.hop_observations = true;
    let mut lab = Lab::with(settings);
    lab.datagram(&older(DraftVersion::V0_5, 1, &node_report(&packet, metadata)));
    let of_hop = |output| match output {
        inband_collector::Output::Observation(Observation::HopLatency(latency)) => Some(latency.latency),
        _ => None,
    };
    lab.outputs().into_iter().filter_map(of_hop).collect()
}

#[test]
fn timestamps_of_32_bits_go_round() {
    assert_eq!(latencies(1_000_000_000, 1_000_001_024), [Nanos(1024)]);
    assert_eq!(latencies(0xffff_ff00, 0x1_0000_0100), [Nanos(512)]);
    // Backwards, and no timestamp.
    assert_eq!(latencies(2_000, 1_000), []);
    assert_eq!(latencies(0, 1_000), []);
}

#[test]
fn a_host_gives_one_time_twice_which_is_no_latency() {
    let mut lab = Lab::new();
    lab.datagram(&payload!("host-int-latency-report-nodeid"));
    assert_eq!(lab.path_observations()[0].hop_latency, [None, None]);
}

#[test]
fn a_summary_of_lost_packets_says_nothing_of_the_path() {
    let mut lab = Lab::new();
    lab.datagram(&payload!("host-int-latency-report-nodeid"));
    assert_eq!(lab.paths().len(), 1);
    lab.datagram(&payload!("host-int-drop-summary-report"));
    lab.wait(Nanos::from_secs(1));
    assert!(lab.paths().is_empty() && lab.events(EventKind::PathChange).is_empty());
    assert_eq!(lab.only_flow().reports, 2);
    assert_eq!(lab.collector.ledger().accepted, 2);
}

#[test]
fn packets_that_host_ints_own_daemon_misses_are_announced() {
    let mut lab = Lab::new();
    lab.datagram(&captured!("host-int-1.0.0-drop-summary-report"));
    let events = lab.events(EventKind::SequenceGap);
    let [event] = events.as_slice() else { panic!("{events:?}") };
    let EventDetail::SequenceGap(gap) = &event.detail else { panic!("{event:?}") };
    assert_eq!((gap.node_id, gap.lost), (NodeId(12), 75));
}

#[test]
fn a_report_that_names_no_node_and_holds_no_stack_adds_no_hop() {
    let mut lab = Lab::new();
    let packet = plain_packet(&flow(1), 64);
    lab.datagram(&older(DraftVersion::V0_5, 1, &sink_report(&packet)));
    lab.wait(Nanos::from_secs(1));
    assert!(lab.paths().is_empty());
    assert_eq!(lab.only_flow().reports, 1);
}

#[test]
fn one_node_may_change_the_version_it_writes() {
    let mut lab = Lab::new();
    let packet = plain_packet(&flow(1), 64);
    let report = node_report(&packet, hop(2, 900, 0));
    for number in 1..=3 {
        lab.datagram(&older(DraftVersion::V1_0, number, &report));
    }
    for number in 1..=3 {
        lab.datagram_from(sender(), &datagram(2, number, &[&report]));
    }
    let ledger = lab.collector.ledger();
    assert_eq!((ledger.accepted, ledger.duplicate), (6, 0));
    assert_eq!(streams(&lab).len(), 2);
}

#[test]
fn what_is_in_no_version_is_malformed_and_counted_by_its_fault() {
    let mut lab = Lab::new();
    let mut unknown = payload!("report-0.5-local-flow");
    unknown[0] = 0x0f;
    let mut contradicts = payload!("report-1.0-xd-all-metadata");
    contradicts[0] = 0x15;
    for bytes in [&unknown[..], &contradicts[..], &[0x00, 0x01], &[0x30; 40], &[]] {
        lab.datagram(bytes);
    }
    assert_eq!((lab.collector.ledger().malformed, lab.collector.ledger().accepted), (5, 0));
    assert_eq!(lab.collector.malformed().map(|fault| fault.count).sum::<u64>(), 5);
}

#[test]
fn the_hops_of_a_stack_have_the_interfaces_it_names() {
    let mut lab = Lab::new();
    lab.datagram(&payload!("host-int-latency-report-nodeid"));
    let paths = lab.path_observations();
    let expected = [(2, 4), (3, 5)].map(|(node_id, port)| Hop {
        node_id: NodeId(node_id),
        ingress_interface: Some(port),
        egress_interface: Some(port),
    });
    assert_eq!(paths[0].path.hops(), expected);
}

#[test]
fn a_lenient_collector_reads_paths_in_every_dialect_and_a_strict_one_does_not() {
    // GEANT reports in 1.0, ONOS in 0.5, CableLabs nearly in 2.0.
    let geant = frame(include_str!("../../../testdata/packets/dialect-geant-1.0-udp.hex")).split_off(14);
    let onos = frame(include_str!("../../../testdata/packets/dialect-onos-0.5-udp.hex")).split_off(14);
    let cablelabs = frame(include_str!("../../../testdata/packets/dialect-cablelabs-udp.hex")).split_off(14);
    for bytes in [
        older(DraftVersion::V1_0, 1, &sink_report(&geant)),
        older(DraftVersion::V0_5, 1, &sink_report(&onos)),
        datagram(2, 1, &[&sink_report(&cablelabs)]),
    ] {
        for lenient in [false, true] {
            let mut lab = Lab::with(CollectorSettings { lenient, ..CollectorSettings::default() });
            lab.datagram(&bytes);
            assert_eq!(lab.collector.ledger().accepted, 1);
            let in_order = lab.paths().contains(&vec![1, 2]);
            assert_eq!(in_order, lenient, "{bytes:02x?}");
        }
    }
}

#[test]
fn the_timestamps_of_geant_give_a_latency_across_the_wrap_of_32_bits() {
    let geant = frame(include_str!("../../../testdata/packets/dialect-geant-1.0-udp.hex")).split_off(14);
    let mut lab = Lab::with(CollectorSettings { lenient: true, ..CollectorSettings::default() });
    lab.datagram(&older(DraftVersion::V1_0, 1, &sink_report(&geant)));
    let path = lab.path_observations().remove(0);
    assert_eq!(path.hop_latency, [Some(1000); 2]);
}

#[test]
fn a_report_with_constant_lengths_is_malformed_to_a_strict_collector_alone() {
    let bytes = payload!("dialect-cablelabs-report");
    for lenient in [false, true] {
        let mut lab = Lab::with(CollectorSettings { lenient, ..CollectorSettings::default() });
        lab.datagram(&bytes);
        let ledger = lab.collector.ledger();
        assert_eq!((ledger.accepted, ledger.malformed), (u64::from(lenient), u64::from(!lenient)));
    }
}

#[test]
fn numbers_of_cablelabs_count_by_the_16_bits_in_front_of_their_padding() {
    let mut lab = Lab::with(CollectorSettings { lenient: true, ..CollectorSettings::default() });
    for number in [0xfffe, 0xffff, 0, 1, 4, 4] {
        let mut bytes = payload!("dialect-cablelabs-report");
        bytes[..4].copy_from_slice(&(0x2000_0000_u32 | number << 6).to_be_bytes());
        lab.datagram(&bytes);
    }
    lab.wait(Nanos::from_secs(60));

    let ledger = lab.collector.ledger();
    assert_eq!((ledger.accepted, ledger.duplicate, ledger.lost, ledger.late), (5, 1, 2, 0), "{ledger:?}");
    let loss = lab.events(EventKind::ReportLoss);
    assert_eq!(loss[0].evidence[0].sequence, 4);
}
