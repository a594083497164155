//! Frames leave a domain as they entered it, bit for bit.

use inband_node::Outcome;
use inband_node::config::{DialectName, IntVersion, Prefix, WatchEntry};
use inband_node::frame::MAX_GROWTH;
use inband_testkit::path::{DomainPlan, NodePlan, next_packet, nodes, send, send_with};
use inband_testkit::strategies::{domain_plan, domain_plan_2_1, ip_packet, node_plan};
use inband_testkit::{Packet, packet};
use inband_wire::Link;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::journey::{Journey, as_it_came};
use crate::{MAX_PAYLOAD, many};

proptest! {
    #![proptest_config(many())]

    #[test]
    fn what_leaves_the_domain_is_what_entered_it(
        packet in ip_packet(MAX_PAYLOAD),
        domain in domain_plan(),
        plans in vec(node_plan(), 1..=7),
    ) {
        // int-2.1/domain-03, int-2.1/sink-01, int-2.1/sink-03, int-2.1/l4-10, int-2.1/l4-11, int-2.1/l4-14
        let frame = packet.build();
        let journey = Journey::run(&domain, &plans, &frame);
        if !journey.any(Outcome::Remarked) {
            prop_assert_eq!(journey.last(), &journey.restored());
        }
    }

    #[test]
    fn a_packet_that_is_not_watched_goes_on_as_it_came_and_unreported(
        packet in ip_packet(200),
        domain in domain_plan(),
        plans in vec(node_plan(), 1..=3),
    ) {
        // int-2.1/domain-04
        let nobody: Prefix = "198.51.100.0/24".parse().unwrap();
        let mut journey = Journey::run_with(&domain, &plans, &packet.build(), |config| {
            config.watchlist = vec![WatchEntry { either: Some(nobody), ..WatchEntry::default() }];
        });
        prop_assert!(!journey.any(Outcome::Started));
        prop_assert!(journey.any(Outcome::Remarked) || journey.last() == &journey.frames[0]);
        prop_assert!(journey.nodes.iter_mut().all(|node| node.poll_output().is_none()));
    }

    #[test]
    fn with_clones_packets_stay_and_their_copies_end_at_the_sink(
        packet in ip_packet(200),
        domain in domain_plan_2_1(),
        plans in vec(node_plan(), 2..=4),
    ) {
        // int-2.1/modes-04, int-2.1/modes-05, int-2.1/modes-07, int-2.1/md-02, int-2.1/mx-02
        let mut journey = Journey::run_with(&domain, &plans, &packet.build(), |config| config.source.clone = 1);
        prop_assert!(journey.any(Outcome::Remarked) || journey.frames.iter().all(|frame| frame == journey.last()));
        let copy = next_packet(&mut journey.nodes[0]).map(|packet| packet.bytes);
        prop_assert_eq!(copy.is_some(), journey.any(Outcome::Cloned));
        prop_assert_eq!(copy.and_then(|copy| end_of_copy(&mut journey, &plans, copy)), None);
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
            prop_assert_eq!(journey.last(), &journey.restored());
        }
    }

    #[test]
    fn a_packet_without_ethernet_header_fares_as_one_with_it(
        packet in ip_packet(200),
        choices in any::<[u8; DomainPlan::BYTES]>(),
        plans in vec(node_plan(), 1..=4),
    ) {
        // Only a MAC address as domain-specific metadata would make a difference.
        let mut choices = choices;
        choices[7] = 0;
        // So would a frame inside GRE.
        choices[5] &= 0x7f;
        let domain = DomainPlan(choices);
        let packet = packet.untagged();
        let journey = Journey::run(&domain, &plans, &packet.build());
        let mut bytes = packet.without_ethernet().build();
        for ((node, plan), frame) in nodes(&domain, &plans).iter_mut().zip(&plans).zip(&journey.frames[1..]) {
            bytes = send_with(node, Link::Ip, &bytes, &plan.passage(), MAX_GROWTH)
                .unwrap_or_else(|| as_it_came(node, &bytes));
            prop_assert_eq!(&bytes, &frame[14..]);
        }
    }

    #[test]
    fn little_headroom_means_less_int_and_the_same_packet_in_the_end(
        packet in ip_packet(200),
        domain in domain_plan(),
        plans in vec((node_plan(), prop_oneof![0_usize..100, 0_usize..1100]), 1..=5),
    ) {
        // Host-INT does not preserve the DSCP.
        if domain.version() == IntVersion::Host0_5 {
            return Ok(());
        }
        pass_with_headroom(&packet, &domain, &plans);
    }
}

/// A path of nodes that have little headroom keeps the packet.
fn pass_with_headroom(packet: &Packet, domain: &DomainPlan, plans: &[(NodePlan, usize)]) {
    let frame = packet.build();
    let (plans, headroom): (Vec<_>, Vec<_>) = plans.iter().copied().unzip();
    let mut nodes = nodes(domain, &plans);
    let mut current = frame.clone();
    for ((node, plan), headroom) in nodes.iter_mut().zip(&plans).zip(headroom) {
        current = send_with(node, Link::Ethernet, &current, &plan.passage(), headroom)
            .unwrap_or_else(|| as_it_came(node, &current));
        assert!(node.counters().get(Outcome::Started) == 0 || headroom >= 12);
    }
    if nodes.iter().all(|node| node.counters().get(Outcome::Remarked) == 0) {
        assert_eq!(current, frame);
    }
}

#[test]
fn a_packet_that_looks_like_int_to_its_port_keeps_its_bytes_where_a_node_has_little_headroom() {
    // A shim before 2.0 without a header behind it.
    let packet = packet().udp(0, 33_122).payload(&[2; 14]);
    let domain = DomainPlan([232, 25, 155, 74, 88, 68, 134, 11]);
    let plans = [(54, 30), (111, 6), (155, 859)];
    let plans = plans.map(|(choice, headroom)| (NodePlan([choice, 0, 0, 0]), headroom));
    pass_with_headroom(&packet, &domain, &plans);
}

/// The result of the first node's copy after all other nodes.
fn end_of_copy(journey: &mut Journey, plans: &[NodePlan], copy: Vec<u8>) -> Option<Vec<u8>> {
    let mut nodes = journey.nodes[1..].iter_mut().zip(&plans[1..]);
    nodes.try_fold(copy, |copy, (node, plan)| send(node, &copy, &plan.passage()))
}

#[test]
fn a_copy_of_cablelabs_ends_at_the_sink_also_where_hops_are_asked_for_nothing() {
    let domain = DomainPlan([2, 0, 0, 0, 0, 0, 0xc0, 0]);
    assert_eq!(domain.dialect(), Some(DialectName::Cablelabs));
    let plans = [NodePlan([0; NodePlan::BYTES]); 3];
    let frame = inband_testkit::packet().tcp(1, 80).build();
    let mut journey = Journey::run_with(&domain, &plans, &frame, |config| config.source.clone = 1);
    let copy = next_packet(&mut journey.nodes[0]).unwrap().bytes;

    assert_eq!(end_of_copy(&mut journey, &plans, copy), None);
    assert_eq!(journey.nodes[2].counters().get(Outcome::Discarded), 1);
}
