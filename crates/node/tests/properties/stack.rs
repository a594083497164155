//! The effect of each hop on the stack, and of the MTU.

use inband_node::Outcome;
use inband_node::config::Mode;
use inband_testkit::path::{DomainPlan, NodePlan};
use inband_testkit::strategies::{domain_plan, domain_plan_2_1, ip_packet, node_plan};
use inband_testkit::{oracle, packet};
use inband_wire::int::{Instructions, MdHeader};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::journey::{Journey, hop_words, md};
use crate::{MAX_PAYLOAD, many};

proptest! {
    #![proptest_config(many())]

    #[test]
    fn a_hop_adds_hop_ml_words_or_none_and_counts_down_for_those_it_adds(
        packet in ip_packet(300),
        domain in domain_plan_2_1(),
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
            // int-2.1/mtu-06: hops reported on the path leave the stack; source-only metadata does not.
            let known = domains.iter().find(|known| known.id == before.header.domain_specific_id());
            let source_only = known.and_then(|known| known.source_only_words(before.header.ds_instruction()));
            let source_only = before.stack.len() - source_only.unwrap_or_default().bytes();
            let is_emptied = node.counters().get(Outcome::IntermediateReport) > 0;
            let kept = if is_emptied { &before.stack[source_only..] } else { &before.stack };
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
    fn a_hop_says_what_its_device_measured_and_all_ones_for_the_rest(
        packet in ip_packet(300),
        choices in any::<[u8; DomainPlan::BYTES]>(),
        missing in vec(any::<u8>(), 2..=4),
        uses_complement in any::<bool>(),
    ) {
        // int-2.1/md-23, int-2.1/md-24, int-2.1/checksum-05, int-2.1/checksum-06
        let mut choices = choices;
        choices[1] = 0;
        let domain = DomainPlan(choices);
        let plan = |missing: &u8| NodePlan([uses_complement.into(), *missing, 0, 0]);
        let plans: Vec<_> = missing.iter().map(plan).collect();
        let journey = Journey::run(&domain, &plans, &packet.build());
        let domains = journey.configs[0].wire_domains().unwrap();
        for ((frame, plan), id) in journey.inside().iter().zip(&plans).zip(1..) {
            let node = &journey.nodes[usize::try_from(id).unwrap() - 1];
            if node.counters().get(Outcome::Pushed) == 0 {
                continue;
            }
            let seen = md(&journey.configs[0], &domains, frame).expect("INT inside");
            let hop = &seen.stack[..seen.header.hop_ml().bytes()];
            let expected = said(seen.header.instructions(), id, plan);
            prop_assert_eq!(&hop[..expected.len()], &expected[..]);
            if seen.header.instructions().contains(Instructions::CHECKSUM_COMPLEMENT) {
                let complement = &hop[hop.len() - 4..];
                let is_used = uses_complement && complement[..2] == [0, 0];
                prop_assert!(is_used || complement == [0xff; 4]);
            }
        }
    }

    #[test]
    fn no_node_sends_more_than_its_mtu_because_of_int(
        packet in ip_packet(MAX_PAYLOAD),
        domain in domain_plan(),
        plans in vec(node_plan(), 2..=5),
    ) {
        // int-2.1/mtu-05, int-2.1/mtu-07, int-2.1/mtu-08: no frame exceeds its egress MTU, unless on arrival.
        // int-2.1/mtu-09: and one frame in is one frame out.
        let journey = Journey::run(&domain, &plans, &packet.build());
        for (pair, config) in journey.frames.windows(2).zip(&journey.configs) {
            let length = |frame: &[u8]| oracle::anatomy(frame).map_or(0, |at| at.end - at.l3);
            let mtu = usize::try_from(config.interfaces[1].mtu).unwrap();
            prop_assert!(length(&pair[1]) <= mtu.max(length(&pair[0])));
        }
    }
}

/// The baseline metadata of node `id` of `plan`, written field by field.
fn said(instructions: Instructions, id: u32, plan: &NodePlan) -> Vec<u8> {
    let device = plan.passage().metadata;
    let word = |value: Option<u32>| value.unwrap_or(u32::MAX).to_be_bytes().to_vec();
    let long = |value: Option<u64>| value.unwrap_or(u64::MAX).to_be_bytes().to_vec();
    let fields = [
        word(Some(id)),
        vec![0, 1, 0, 2],
        word(device.hop_latency),
        device.queue.map_or(vec![0xff; 4], |_| vec![3, 0, 1, 2]),
        long(device.ingress_timestamp),
        long(device.egress_timestamp),
        vec![0xff; 8],
        word(device.egress_utilization),
        device.buffer.map_or(vec![0xff; 4], |_| vec![1, 0xff, 0xff, 0xff]),
    ];
    let asked = fields.into_iter().enumerate().filter(|(bit, _)| instructions.0 & 0x8000 >> bit != 0);
    asked.flat_map(|(_, field)| field).collect()
}

/// The fields no hop may change: Hop ML, bitmap, domain id and DS Instruction.
fn fixed_fields(header: &MdHeader) -> (u8, Instructions, u16, u16) {
    (header.hop_ml().count(), header.instructions(), header.domain_specific_id(), header.ds_instruction())
}

#[test]
fn the_mtu_is_met_exactly_and_exceeded_by_one_byte_for_every_encapsulation() {
    // int-2.1/mtu-05: a transit hop pushes at exactly the MTU, and nothing with one byte less.
    // int-2.1/mtu-07, int-2.1/mtu-08: so does the source, for its fixed headers and for its metadata.
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
