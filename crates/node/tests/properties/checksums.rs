//! Checksums inside a domain are as correct or as wrong as before.

use inband_node::Outcome;
use inband_node::config::{EncapsulationKind, Layer};
use inband_testkit::path::{DomainPlan, NodePlan, nodes, send};
use inband_testkit::strategies::{domain_plan, int_packet, ip_packet, mutation, node_plan};
use inband_testkit::{oracle, packet};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::journey::Journey;
use crate::{MAX_PAYLOAD, many};

proptest! {
    #![proptest_config(many())]

    #[test]
    fn checksums_in_between_are_as_right_or_wrong_as_they_were(
        packet in ip_packet(MAX_PAYLOAD),
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
                // int-2.1/l4-09: the new UDP header has no checksum; a packet around it keeps its own.
                let is_as_before =
                    domain.layer() == Layer::Inner && oracle::l4_sum(inside) == oracle::l4_sum(&frame);
                prop_assert!(is_as_before || oracle::l4_sum(inside).is_none());
                let is_new = oracle::anatomy(inside).is_some_and(|at| at.l3_length == 20);
                prop_assert!(is_new || oracle::ipv4_header_sum(inside) == oracle::ipv4_header_sum(&frame));
            } else {
                if domain.updates_l4() {
                    prop_assert_eq!(oracle::l4_sum(inside), oracle::l4_sum(&frame));
                }
                prop_assert_eq!(oracle::ipv4_header_sum(inside), oracle::ipv4_header_sum(&frame));
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
