//! No input, and no corruption on the path, makes a node panic or write nonsense.

use inband_node::{Outcome, Output};
use inband_testkit::path::{nodes, send, send_with};
use inband_testkit::strategies::{domain_plan, ip_packet, mutation, node_plan, payload};
use inband_wire::Link;
use inband_wire::report::ReportGroup;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::many;

proptest! {
    #![proptest_config(many())]

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
            while let Some(output) = node.poll_output() {
                let Output::Report(datagram) = output else { continue };
                let group = ReportGroup::parse(datagram.payload).expect("a node's own report");
                prop_assert!(group.reports().all(|report| report.is_ok()));
            }
        }
    }
}
