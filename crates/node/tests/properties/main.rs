//! What holds for every packet, on every path through every INT domain?

mod journey;

use inband_node::Outcome;
use inband_node::config::{EncapsulationKind, Mode};
use inband_testkit::path::{DomainPlan, NodePlan, nodes, send, send_with};
use inband_testkit::strategies::{domain_plan, int_packet, ip_packet, mutation, node_plan, payload};
use inband_testkit::{oracle, packet};
use inband_wire::Link;
use inband_wire::int::{Instructions, MdHeader};
use inband_wire::report::ReportGroup;
use proptest::collection::vec;
use proptest::prelude::*;

use journey::{Journey, hop_words, md};

/// Longest payload of the arbitrary packets, bytes.
const MOST_PAYLOAD: usize = 1500;

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_leaves_the_domain_is_what_entered_it(
        packet in ip_packet(MOST_PAYLOAD),
        domain in domain_plan(),
        plans in vec(node_plan(), 1..=7),
    ) {
        // int-2.1/domain-03, int-2.1/sink-01, int-2.1/sink-03, int-2.1/l4-10, int-2.1/l4-11, int-2.1/l4-14
        let frame = packet.build();
        let journey = Journey::run(&domain, &plans, &frame);
        if !journey.any(Outcome::Remarked) {
            prop_assert_eq!(journey.last(), &frame);
        }
    }

    #[test]
    fn a_frame_that_a_capture_cut_comes_back_as_it_was(
        packet in ip_packet(200),
        length in 0_usize..200,
        domain in domain_plan(),
        plans in vec(node_plan(), 1..=3),
    ) {
        let mut frame = packet.build();
        frame.truncate(length);
        let journey = Journey::run(&domain, &plans, &frame);
        if !journey.any(Outcome::Remarked) {
            prop_assert_eq!(journey.last(), &frame);
        }
    }

    #[test]
    fn checksums_in_between_are_as_right_or_wrong_as_they_were(
        packet in ip_packet(MOST_PAYLOAD),
        domain in domain_plan(),
        plans in vec(node_plan(), 1..=7),
    ) {
        // int-2.1/checksum-01, int-2.1/checksum-02, int-2.1/checksum-03, int-2.1/checksum-04
        let frame = packet.build();
        let journey = Journey::run(&domain, &plans, &frame);
        let has_new_headers = match domain.kind() {
            EncapsulationKind::Udp | EncapsulationKind::Gre => journey.any(Outcome::Started),
            _ => false,
        };
        for inside in journey.inside() {
            if has_new_headers {
                // int-2.1/l4-09: the new UDP header has no checksum.
                prop_assert_eq!(oracle::l4_sum(inside), None);
                let is_new = oracle::anatomy(inside).is_some_and(|at| at.l3_length == 20);
                prop_assert!(is_new || oracle::ipv4_header_sum(inside) == oracle::ipv4_header_sum(&frame));
            } else {
                prop_assert_eq!(oracle::l4_sum(inside), oracle::l4_sum(&frame));
                prop_assert_eq!(oracle::ipv4_header_sum(inside), oracle::ipv4_header_sum(&frame));
            }
        }
    }

    #[test]
    fn a_hop_adds_hop_ml_words_or_none_and_counts_down_for_those_it_adds(
        packet in ip_packet(300),
        domain in domain_plan(),
        plans in vec(node_plan(), 2..=7),
    ) {
        // int-2.1/md-07, int-2.1/md-09, int-2.1/md-28, int-2.1/md-29, int-2.1/md-40, int-2.1/mtu-05
        let journey = Journey::run(&domain, &plans, &packet.build());
        let config = &journey.configs[0];
        let domains = config.wire_domains().unwrap();
        if domain.mode() == Mode::Mx || !journey.any(Outcome::Started) {
            return Ok(());
        }
        let seen: Vec<_> =
            journey.inside().iter().map(|frame| md(config, &domains, frame).expect("INT inside")).collect();
        for ((pair, config), node) in seen.windows(2).zip(&journey.configs[1..]).zip(&journey.nodes[1..]) {
            let (before, after) = (&pair[0], &pair[1]);
            let hop = usize::from(hop_words(&domain, &domains)) * 4;
            prop_assert_eq!(before.header.hop_ml().bytes(), hop);
            // int-2.1/mtu-06: what was reported on the way is no longer on the stack.
            let is_emptied = node.counters().get(Outcome::IntermediateReport) > 0;
            let kept = if is_emptied { &[][..] } else { &before.stack };
            let grown = after.stack.len() - kept.len();
            prop_assert!(grown == 0 || grown == hop, "{} bytes for a Hop ML of {}", grown, hop);
            prop_assert!(after.stack.ends_with(kept));
            let left = (before.header.remaining_hop_count(), after.header.remaining_hop_count());
            prop_assert_eq!(usize::from(left.0 - left.1) * hop, grown);
            prop_assert_eq!(fixed_fields(&before.header), fixed_fields(&after.header));
            let exceeded = (before.header.max_hop_count_exceeded(), after.header.max_hop_count_exceeded());
            prop_assert_eq!(exceeded.1, exceeded.0 || left.0 == 0);
            prop_assert!(!before.header.mtu_exceeded() || after.header.mtu_exceeded());
            if after.header.mtu_exceeded() && !before.header.mtu_exceeded() {
                prop_assert_eq!(grown, 0);
                prop_assert!(config.interfaces[1].mtu < 9000);
            }
        }
    }

    #[test]
    fn no_node_sends_more_than_its_mtu_because_of_int(
        packet in ip_packet(MOST_PAYLOAD),
        domain in domain_plan(),
        plans in vec(node_plan(), 2..=5),
    ) {
        // int-2.1/mtu-05, int-2.1/mtu-07, int-2.1/mtu-08, int-2.1/mtu-09
        let journey = Journey::run(&domain, &plans, &packet.build());
        for (pair, config) in journey.frames.windows(2).zip(&journey.configs) {
            let length = |frame: &[u8]| oracle::anatomy(frame).map_or(0, |at| at.end - at.l3);
            let mtu = usize::try_from(config.interfaces[1].mtu).unwrap();
            prop_assert!(length(&pair[1]) <= mtu.max(length(&pair[0])));
        }
    }

    #[test]
    fn the_sink_reports_the_path_the_packet_took(
        packet in ip_packet(300),
        choices in any::<[u8; DomainPlan::BYTES]>(),
        ignores in vec(any::<u8>(), 2..=6),
    ) {
        // int-2.1/md-22, report-2.0/modes-03
        let mut choices = choices;
        (choices[1], choices[4]) = (0, 8);
        choices[2] |= 0x80;
        let plans: Vec<_> = ignores.iter().map(|ignores| NodePlan([ignores & 1, 0, 0, 0])).collect();
        let domain = DomainPlan(choices);
        let mut journey = Journey::run_with(&domain, &plans, &packet.build(), |config| {
            config.report.truncate = 9216;
        });
        // A Geneve option has room for few hops.
        if !journey.any(Outcome::Started) || journey.any(Outcome::HopsExceeded) {
            return Ok(());
        }
        // Without the source's own metadata there is no source-only metadata either, which a reader cannot see
        // where it would be as long as a hop.
        if !journey.configs[0].source.own_metadata && domain.domain().is_some() {
            return Ok(());
        }
        let sink = journey.nodes.last_mut().unwrap();
        let datagram = sink.poll_report().expect("the sink's report").to_vec();
        let group = ReportGroup::parse(&datagram).unwrap();
        let report = group.reports().next().unwrap().unwrap();
        let (_, inner, _) = report.packet().unwrap();
        let config = &journey.configs[0];
        let seen = md(config, &config.wire_domains().unwrap(), inner).expect("INT in the report");
        let path: Vec<_> = seen.hops.iter().rev().map(|hop| hop.node_id.unwrap()).collect();
        let last = u32::try_from(plans.len()).unwrap();
        let first = if config.source.own_metadata { 1 } else { 2 };
        let sink_is_in_stack = seen.header.remaining_hop_count() + u8::try_from(path.len()).unwrap();
        prop_assert_eq!(group.header.node_id(), last);
        let last_in_stack = if path.last() == Some(&last) { last } else { last - 1 };
        prop_assert_eq!(path, (first..=last_in_stack).collect::<Vec<_>>());
        prop_assert!(sink_is_in_stack <= 8);
    }

    #[test]
    fn every_node_of_an_mx_path_reports_and_the_packet_stays(
        packet in ip_packet(300),
        choices in any::<[u8; DomainPlan::BYTES]>(),
        count in 2..=6_usize,
    ) {
        // int-2.1/modes-02, int-2.1/modes-03
        let mut choices = choices;
        choices[1] = 1;
        choices[5] &= 0x06;
        let domain = DomainPlan(choices);
        let mut journey = Journey::run(&domain, &vec![NodePlan([0; 4]); count], &packet.build());
        if !journey.any(Outcome::Started) {
            return Ok(());
        }
        prop_assert!(journey.inside().windows(2).all(|pair| pair[0] == pair[1]));
        for (node, id) in journey.nodes.iter_mut().zip(1..) {
            let datagram = node.poll_report().expect("one report").to_vec();
            let group = ReportGroup::parse(&datagram).unwrap();
            prop_assert_eq!(group.header.node_id(), id);
            let report = group.reports().next().unwrap().unwrap();
            prop_assert!(!report.rep_md_bits().intersects(Instructions::NODE_ID));
            prop_assert!(node.poll_report().is_none());
        }
    }

    #[test]
    fn no_bytes_make_a_node_panic_and_every_packet_counts_once(
        frames in vec(payload(300), 1..=8),
        domain in domain_plan(),
        plan in node_plan(),
        is_ip in any::<bool>(),
        headroom in 0_usize..1100,
    ) {
        let link = if is_ip { Link::Ip } else { Link::Ethernet };
        for node in &mut nodes(&domain, &[plan; 3]) {
            for frame in &frames {
                let _ = send_with(node, link, frame, &plan.passage(), headroom);
            }
            let fates: u64 = Outcome::FATES.iter().map(|fate| node.counters().get(*fate)).sum();
            prop_assert_eq!(fates, frames.len() as u64);
        }
    }

    #[test]
    fn no_harm_between_the_nodes_makes_one_panic(
        packet in ip_packet(100),
        domain in domain_plan(),
        plans in vec(node_plan(), 5),
        harm in vec(vec(mutation(), 0..3), 5),
    ) {
        let mut frame = packet.build();
        for ((node, plan), harm) in nodes(&domain, &plans).iter_mut().zip(&plans).zip(&harm) {
            harm.iter().for_each(|mutation| mutation.apply(&mut frame));
            let Some(sent) = send(node, &frame, &plan.passage()) else { break };
            frame = sent;
            while let Some(datagram) = node.poll_report() {
                let group = ReportGroup::parse(datagram).expect("a node's own report");
                prop_assert!(group.reports().all(|report| report.is_ok()));
            }
        }
    }

    #[test]
    fn a_transit_hop_keeps_the_checksums_of_int_packets_it_did_not_start(
        int in int_packet(),
        domain in domain_plan(),
        plan in node_plan(),
        harm in vec(mutation(), 0..3),
    ) {
        let mut frame = int.build();
        harm.iter().for_each(|mutation| mutation.apply(&mut frame));
        let before = (oracle::l4_sum(&frame), oracle::ipv4_header_sum(&frame));
        let mut transit = nodes(&domain, &[plan; 3]).remove(1);
        if let Some(sent) = send(&mut transit, &frame, &plan.passage()) {
            prop_assert_eq!((oracle::l4_sum(&sent), oracle::ipv4_header_sum(&sent)), before);
        }
    }
}

/// What no hop may change: Hop ML, bitmap, domain id and DS Instruction.
fn fixed_fields(header: &MdHeader) -> (u8, Instructions, u16, u16) {
    (header.hop_ml().count(), header.instructions(), header.domain_specific_id(), header.ds_instruction())
}

#[test]
fn every_payload_length_comes_back_and_has_right_checksums_in_between() {
    // int-2.1/checksum-03
    let carriers =
        [packet().tcp(1, 80), packet().udp(1, 53), packet().ipv6().tcp(1, 80), packet().ipv6().udp(1, 53)];
    let all: Vec<u8> = (0..=1500_u32).map(|index| u8::try_from(0x40 + index * 7 % 0xbf).unwrap()).collect();
    for carrier in carriers {
        for length in 0..=1500 {
            let frame = carrier.clone().payload(&all[..length]).build();
            let journey = Journey::run(&DomainPlan([0; 8]), &[NodePlan([0; 4]); 3], &frame);
            assert!(journey.any(Outcome::Stripped), "{length} bytes");
            for inside in journey.inside() {
                assert_eq!(oracle::l4_sum(inside), Some(0xffff), "{length} bytes");
                assert!(oracle::ipv4_header_sum(inside).is_none_or(|sum| sum == 0xffff), "{length} bytes");
            }
            assert_eq!(journey.last(), &frame, "{length} bytes");
        }
    }
}

#[test]
fn the_mtu_is_met_exactly_and_exceeded_by_one_byte_for_every_encapsulation() {
    // int-2.1/mtu-05, int-2.1/mtu-07, int-2.1/mtu-08
    let [dscp, udp_port, udp, marker, gre] =
        [0, 1, 2, 3, 4].map(|kind| DomainPlan([kind, 0, 0x90, 0, 0, 0, 0, 0]));
    for domain in [dscp, udp_port, udp, marker, gre] {
        let frame = packet().udp(1, 53).payload(b"odd").build();
        let plain = Journey::run(&domain, &[NodePlan([0; 4]); 3], &frame);
        let length = |index: usize| oracle::anatomy(&plain.frames[index]).map(|at| at.end - at.l3).unwrap();
        let outcome = |node: usize, mtu: usize, outcome| {
            let mtu = u16::try_from(mtu - 40).unwrap().to_be_bytes();
            let mut plans = [NodePlan([0; 4]); 3];
            plans[node] = NodePlan([0, 0, mtu[0], mtu[1]]);
            let journey = Journey::run(&domain, &plans, &frame);
            assert_eq!(journey.last(), &frame);
            journey.nodes[node].counters().get(outcome)
        };
        assert_eq!(outcome(1, length(2), Outcome::Pushed), 1, "{domain:?}");
        assert_eq!(outcome(1, length(2) - 1, Outcome::Pushed), 0, "{domain:?}");
        assert_eq!(outcome(1, length(2) - 1, Outcome::MtuExceeded), 1, "{domain:?}");
        assert_eq!(outcome(0, length(1) - 8, Outcome::Started), 1, "{domain:?}");
        assert_eq!(outcome(0, length(1) - 9, Outcome::Started), 0, "{domain:?}");
        assert_eq!(outcome(0, length(1) - 9, Outcome::NotStartedMtu), 1, "{domain:?}");
    }
}
