//! Reports of every version contain the node's metadata.

mod support;

use inband_node::config::{
    EncapsulationKind, InnerForm, Instruction, IntVersion, Mode, MtuAction, NodeConfig, ReportVersion,
    SinkMetadata, SourceInserted,
};
use inband_node::{DeviceMetadata, Frame, Node, Outcome, Passage};
use inband_wire::int::{Buffer, CodePoints, HopMetadata, Instructions, Interfaces, Queue, Version};
use inband_wire::report::earlier::ReportKind;
use inband_wire::report::{self, AnyIndividual, AnyReport, Drop};
use inband_wire::{FiveTuple, Link};
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::Config;

use support::{addresses, frame, node_config, passage, path, reports, tcp, tcp_frame, through, with_report};

const VERSIONS: [ReportVersion; 3] = [ReportVersion::V0_5, ReportVersion::V1_0, ReportVersion::V2_0];

fn xd(version: ReportVersion) -> NodeConfig {
    let mut config = node_config(7, (false, false), EncapsulationKind::Dscp, Mode::Xd);
    config.report.version = version;
    config.report.hw_id = 5;
    config
}

/// The low 32 bits of a time; all ones is reserved for "not available".
fn low(time: Option<u64>) -> Option<u64> {
    Some((time.unwrap_or(0) & 0xffff_ffff).min(0xffff_fffe))
}

/// The device's measurements that `asked` names and the format can carry.
fn expected(version: ReportVersion, asked: Instructions, is_drop: bool, passage: &Passage) -> HopMetadata {
    let device = &passage.metadata;
    let asks = |bit| asked.contains(bit);
    let interfaces = Some(Interfaces { ingress: passage.ingress, egress: passage.egress });
    match version {
        ReportVersion::V0_5 => HopMetadata {
            interfaces,
            queue: device.queue.filter(|_| !is_drop),
            ingress_timestamp: low(device.ingress_timestamp),
            egress_timestamp: device.egress_timestamp.filter(|_| !is_drop).and_then(|time| low(Some(time))),
            ..HopMetadata::default()
        },
        ReportVersion::V1_0 => HopMetadata {
            interfaces: interfaces.filter(|_| asks(Instructions::INTERFACES)),
            hop_latency: device.hop_latency.filter(|_| asks(Instructions::HOP_LATENCY)),
            queue: device.queue.filter(|_| asks(Instructions::QUEUE)),
            ingress_timestamp: low(device.ingress_timestamp),
            egress_timestamp: device
                .egress_timestamp
                .filter(|_| asks(Instructions::EGRESS_TIMESTAMP))
                .and_then(|time| low(Some(time))),
            egress_utilization: device.egress_utilization.filter(|_| asks(Instructions::EGRESS_UTILIZATION)),
            ..HopMetadata::default()
        },
        ReportVersion::V2_0 => HopMetadata {
            interfaces: interfaces.filter(|_| asks(Instructions::INTERFACES)),
            hop_latency: device.hop_latency.filter(|_| asks(Instructions::HOP_LATENCY)),
            queue: device.queue.filter(|_| asks(Instructions::QUEUE)),
            ingress_timestamp: device.ingress_timestamp.filter(|_| asks(Instructions::INGRESS_TIMESTAMP)),
            egress_timestamp: device.egress_timestamp.filter(|_| asks(Instructions::EGRESS_TIMESTAMP)),
            egress_utilization: device.egress_utilization.filter(|_| asks(Instructions::EGRESS_UTILIZATION)),
            buffer: device.buffer.filter(|_| asks(Instructions::BUFFER)),
            ..HopMetadata::default()
        },
    }
}

proptest! {
    #![proptest_config(Config { cases: 2_000, failure_persistence: inband_testkit::kept_failures!(), ..Config::default() })]

    #[test]
    fn what_a_node_reports_is_what_a_reader_finds(
        version in 0..3_usize,
        is_tlv: bool,
        link_is_ip: bool,
        v6: bool,
        drop in proptest::option::of(any::<u8>()),
        bits in any::<u16>(),
        values in any::<(Option<u64>, Option<u64>, Option<u32>, Option<(u8, u32)>, Option<(u8, u32)>, Option<u32>)>(),
        payload in 0..1400_usize,
        truncate in 80..1500_u16,
        count in 1..4_u32,
    ) {
        // sd-fabric-1.0/report-01
        // report-2.0/metadata-02, report-2.0/metadata-04, report-2.0/individual-05
        let version = VERSIONS[version];
        let (ingress_timestamp, egress_timestamp, hop_latency, queue, buffer, egress_utilization) = values;
        // All ones would mean that there is no value.
        let passage = Passage {
            ingress: 1,
            egress: 2,
            metadata: DeviceMetadata {
                ingress_timestamp: ingress_timestamp.map(|time| time >> 1),
                egress_timestamp: egress_timestamp.map(|time| time >> 1),
                hop_latency: hop_latency.map(|value| value >> 1),
                queue: queue.map(|(id, occupancy)| Queue { id: id >> 1, occupancy: occupancy >> 8 }),
                buffer: buffer.map(|(id, occupancy)| Buffer { id: id >> 1, occupancy: occupancy >> 8 }),
                egress_utilization: egress_utilization.map(|value| value >> 1),
                counters: None,
            },
        };
        let mut config = xd(version);
        config.report.truncate = truncate;
        if is_tlv && version == ReportVersion::V2_0 {
            config.report.inner = InnerForm::Tlv;
        }
        let asked = Instructions(bits & 0xff80);
        config.source.instructions =
            Instruction::OF_2_1.into_iter().filter(|instruction| asked.contains(instruction.bit())).collect();
        let mut node = Node::new(&config).unwrap();
        let whole = frame(v6, 6, &tcp(v6, &[], &vec![0x55; payload]));
        let (link, packet) = if link_is_ip { (Link::Ip, &whole[14..]) } else { (Link::Ethernet, &whole[..]) };

        for _ in 0..count {
            match drop {
                Some(reason) => node.handle_drop(link, packet, &passage, reason),
                None => {
                    let mut bytes = packet.to_vec();
                    let end = bytes.len();
                    let mut frame = Frame::new(&mut bytes, 0..end).unwrap();
                    let _ = node.handle_frame(link, &mut frame, &passage);
                }
            }
        }
        let datagrams = reports(&mut node);
        prop_assert_eq!(datagrams.len(), count as usize);
        for (sequence, datagram) in (1..).zip(&datagrams) {
            let read = AnyReport::parse(datagram).unwrap();
            let name = match version {
                ReportVersion::V0_5 => report::ReportVersion::V0_5,
                ReportVersion::V1_0 => report::ReportVersion::V1_0,
                ReportVersion::V2_0 => report::ReportVersion::V2_0,
            };
            prop_assert_eq!((read.version(), read.node_id(), read.hw_id()), (name, Some(7), 5));
            prop_assert_eq!(read.sequence(), sequence);
            let individual: Vec<_> = read.reports().map(Result::unwrap).collect();
            prop_assert_eq!(individual.len(), 1);
            let found = individual[0];
            prop_assert_eq!((found.dropped(), found.congested_queue()), (drop.is_some(), false));
            let local = Instructions(0x7c00);
            let wanted = if drop.is_some() { local } else { asked };
            prop_assert_eq!(found.metadata(), expected(version, wanted, drop.is_some(), &passage));
            let queue_id = passage.metadata.queue.map_or(0, |queue| queue.id);
            prop_assert_eq!(found.drop(), drop.map(|reason| Drop { queue_id, reason }));
            let (_, inner, _) = found.packet().unwrap();
            let inner = if link_is_ip && version == ReportVersion::V0_5 { &inner[14..] } else { inner };
            let kept = inner.len().min(packet.len());
            prop_assert!(kept + 4 > usize::from(truncate).min(packet.len()).min(1020) || kept == packet.len());
            prop_assert_eq!(&inner[..kept], &packet[..kept]);
            prop_assert!(inner[kept..].iter().all(|byte| *byte == 0));
            let (source, destination) = addresses(v6);
            let flow = FiveTuple { source, destination, protocol: 6, source_port: 40_000, destination_port: 80 };
            prop_assert_eq!(found.dissect(&CodePoints::DEFAULT).flow, Some(flow));
        }
    }
}

#[test]
fn a_sink_reports_the_stack_in_every_version() {
    for version in VERSIONS {
        for own_metadata in [SinkMetadata::Stack, SinkMetadata::Report] {
            let mut nodes = path(3, EncapsulationKind::Dscp, Mode::Md);
            let mut config = node_config(3, (false, true), EncapsulationKind::Dscp, Mode::Md);
            config.report.version = version;
            config.sink.own_metadata = own_metadata;
            nodes[2] = Node::new(&config).unwrap();
            let mut packet = tcp_frame(b"payload");
            for node in &mut nodes {
                packet = through(node, &packet).unwrap();
            }
            let datagrams = reports(&mut nodes[2]);
            let read = AnyReport::parse(&datagrams[0]).unwrap();
            let found = read.reports().next().unwrap().unwrap();
            let dissection = found.dissect(&CodePoints::DEFAULT);
            let (_, location) = dissection.int().next().unwrap();
            assert_eq!(location.version, Version::V2_1);
            assert!(found.tracked_flow());
            let own = own_metadata == SinkMetadata::Report;
            // Without metadata of its own a report 0.5 names no node: only the stack does.
            let named = version != ReportVersion::V0_5 || own;
            assert_eq!(read.node_id(), named.then_some(3), "{version:?} {own_metadata:?}");
            if let AnyIndividual::Single(single) = found
                && version == ReportVersion::V0_5
            {
                assert_eq!(single.kind, if own { ReportKind::Local } else { ReportKind::Packet });
            }
        }
    }
}

#[test]
fn a_packet_in_a_tlv_is_found() {
    let mut config = xd(ReportVersion::V2_0);
    config.report.inner = InnerForm::Tlv;
    let mut node = Node::new(&config).unwrap();
    let packet = tcp_frame(b"payload");
    through(&mut node, &packet);
    with_report(&mut node, |report| {
        let (link, inner, _) = report.packet().unwrap();
        assert_eq!((link, &inner[..packet.len()]), (Link::Ethernet, &packet[..]));
    });
}

#[test]
fn the_numbers_of_older_versions_are_32_bits_wide_and_start_with_1() {
    // report-0.5/header-05, report-1.0/header-05
    for version in [ReportVersion::V0_5, ReportVersion::V1_0] {
        let mut node = Node::new(&xd(version)).unwrap();
        for number in 1..=100_u32 {
            through(&mut node, &tcp_frame(b""));
            let datagrams = reports(&mut node);
            assert_eq!(AnyReport::parse(&datagrams[0]).unwrap().sequence(), number);
        }
    }
}

#[test]
fn reports_of_older_versions_nobody_takes_are_shed_and_leave_no_gap() {
    let mut config = xd(ReportVersion::V0_5);
    config.report.truncate = 9000;
    let mut node = Node::new(&config).unwrap();
    let long = tcp_frame(&[0x55; 1000]);
    for _ in 0..1100 {
        through(&mut node, &long);
    }
    let shed = node.counters().get(Outcome::ReportShed);
    assert!(shed > 0);
    let queued = reports(&mut node);
    assert_eq!(queued.len() as u64 + shed, 1100);
    through(&mut node, &long);
    let next = reports(&mut node);
    let number = AnyReport::parse(&next[0]).unwrap().sequence();
    assert_eq!(number as usize, queued.len() + 1);
}

#[test]
fn what_only_2_0_can_carry_is_refused_by_name() {
    let refusal = |change: fn(&mut NodeConfig)| {
        VERSIONS.map(|version| {
            let mut config = xd(version);
            change(&mut config);
            Node::new(&config).err().map(|error| error.to_string())
        })
    };
    for (change, key) in [
        ((|config| config.report.group = 2.try_into().unwrap()) as fn(&mut NodeConfig), "report.group"),
        (|config| config.report.inner = InnerForm::Tlv, "report.inner"),
        (|config| config.report.source_inserted = SourceInserted::Metadata, "report.source_inserted"),
        (|config| config.mtu.action = MtuAction::IntermediateReport, "mtu.action"),
    ] {
        let [v0_5, v1_0, v2_0] = refusal(change);
        assert!(v0_5.is_some_and(|error| error.contains(key)), "{key}");
        assert!(v1_0.is_some_and(|error| error.contains("report.version is not \"2.0\"")), "{key}");
        assert_eq!(v2_0, None, "{key}");
    }
}

/// A source and a sink of Host-INT, with loss detection at the sink.
fn hosts(version: ReportVersion) -> [NodeConfig; 2] {
    [(1, (true, false)), (2, (false, true))].map(|(id, edges)| {
        let mut config = node_config(id, edges, EncapsulationKind::Udp, Mode::Md);
        config.node.int_version = Some(IntVersion::Host0_5);
        config.source.instructions = [
            Instruction::NodeId,
            Instruction::Level1Interfaces,
            Instruction::IngressTimestamp,
            Instruction::EgressTimestamp,
        ]
        .into_iter()
        .collect();
        config.loss.detect = id == 2;
        config.report.version = version;
        config
    })
}

#[test]
fn losses_are_told_by_host_ints_drop_summary_in_0_5() {
    let [source, sink] = hosts(ReportVersion::V0_5).map(|config| Node::new(&config).unwrap());
    let (mut source, mut sink) = (source, sink);
    for number in 1..=5 {
        let sent = through(&mut source, &tcp_frame(b"payload")).unwrap();
        if number != 3 {
            let _ = through(&mut sink, &sent);
        }
    }
    sink.flush_reports();
    let datagrams = reports(&mut sink);
    let read: Vec<_> = datagrams.iter().map(|datagram| AnyReport::parse(datagram).unwrap()).collect();
    let numbers: Vec<_> = read.iter().map(AnyReport::sequence).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    let summaries: Vec<_> = read
        .iter()
        .flat_map(AnyReport::reports)
        .filter_map(|report| report.unwrap().drop_summary().copied())
        .collect();
    let [summary] = summaries.as_slice() else { panic!("{summaries:?}") };
    assert_eq!((summary.source_node_id(), summary.sink_node_id()), (1, 2));
    assert_eq!((summary.gap().sequence, summary.gap().count), (2, 1));
    // host-int-0.5/packet-10: the source's interface, and the ingress interface of the sink.
    assert_eq!((summary.ingress_port(), summary.egress_port()), (passage().ingress, passage().ingress));

    let [_, sink] = hosts(ReportVersion::V1_0);
    let refused = Node::new(&sink).err().map(|error| error.to_string());
    assert!(refused.is_some_and(|error| error.contains("loss.detect")));
}

#[test]
fn a_sink_of_host_int_tells_latency_where_it_may_and_as_0_5() {
    // host-int-0.5/report-03, host-int-0.5/report-04
    let kind = |version, own_metadata: SinkMetadata, sink_node_id: bool| {
        let [source, mut sink] = hosts(version);
        sink.sink.own_metadata = own_metadata;
        sink.report.sink_node_id = sink_node_id;
        let sent = through(&mut Node::new(&source).unwrap(), &tcp_frame(b"payload")).unwrap();
        let mut sink = Node::new(&sink).unwrap();
        let _ = through(&mut sink, &sent);
        let datagrams = reports(&mut sink);
        let [datagram] = datagrams.as_slice() else { panic!("{datagrams:02x?}") };
        match AnyReport::parse(datagram).unwrap() {
            AnyReport::Single(report) => {
                if report.kind == ReportKind::Latency {
                    // host-int-0.5/packet-10: each host's one port, twice, in the last two hops and the
                    // number.
                    let port = passage().ingress.to_be_bytes();
                    let twice = [port, port].concat();
                    let hops = &datagram[datagram.len() - 36..];
                    assert_eq!((&hops[4..8], &hops[20..24]), (&twice[..], &twice[..]));
                }
                (Some(report.kind), report.node_id, datagram.len())
            }
            AnyReport::Group(_) => (None, None, 0),
        }
    };
    // Fixed header, IPv4 and TCP header, shim, header, two hops, number, and the sink if it is named.
    let length = 12 + 40 + 4 + 8 + 2 * 16 + 4;
    for own in [SinkMetadata::Stack, SinkMetadata::Report] {
        let named = kind(ReportVersion::V0_5, own, true);
        assert_eq!(named, (Some(ReportKind::Latency), Some(2), length + 4), "{own:?}");
        let unnamed = kind(ReportVersion::V0_5, own, false);
        assert_eq!((unnamed.0, unnamed.2), (Some(ReportKind::Latency), length), "{own:?}");
        assert_eq!(kind(ReportVersion::V2_0, own, true).0, None, "{own:?}");
    }
    assert_eq!(kind(ReportVersion::V0_5, SinkMetadata::None, true).0, Some(ReportKind::Packet));
}
