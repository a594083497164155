//! The reports of a path describe that path.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use inband_node::Outcome;
use inband_node::config::{Layer, Mode};
use inband_testkit::packet;
use inband_testkit::path::{DomainPlan, NodePlan, next_report};
use inband_testkit::strategies::{ip_packet, node_plan};
use inband_wire::int::Instructions;
use inband_wire::report::ReportGroup;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::journey::{Journey, md};
use crate::{MAX_PAYLOAD, many};

proptest! {
    #![proptest_config(many())]

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
        // A Geneve option has room for only a few hops.
        if !journey.any(Outcome::Started) || journey.any(Outcome::HopsExceeded) {
            return Ok(());
        }
        // Without the source's own metadata there is no source-only metadata either, which a reader cannot see
        // where it would be as long as a hop.
        if !journey.configs[0].source.own_metadata && domain.domain().is_some() {
            return Ok(());
        }
        let sink = journey.nodes.last_mut().unwrap();
        let datagram = next_report(sink).expect("the sink's report");
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
            let datagram = next_report(node).expect("one report");
            let group = ReportGroup::parse(&datagram).unwrap();
            prop_assert_eq!(group.header.node_id(), id);
            let report = group.reports().next().unwrap().unwrap();
            prop_assert!(!report.rep_md_bits().intersects(Instructions::NODE_ID));
            prop_assert!(node.poll_output().is_none());
        }
    }

    #[test]
    fn an_xd_node_reports_every_watched_packet_and_changes_none(
        packet in ip_packet(MAX_PAYLOAD),
        choices in any::<[u8; DomainPlan::BYTES]>(),
        plan in node_plan(),
    ) {
        // int-2.1/modes-01, report-2.0/modes-01
        let mut choices = choices;
        choices[1] = 1;
        let mut journey = postcards(&DomainPlan(choices), plan, &packet.build());
        prop_assert!(journey.frames.windows(2).all(|pair| pair[0] == pair[1]));
        let is_int = journey.any(Outcome::Malformed);
        for node in &mut journey.nodes {
            let datagram = next_report(node);
            prop_assert!(datagram.is_some() || is_int);
            if let Some(datagram) = datagram {
                let group = ReportGroup::parse(&datagram).unwrap();
                let report = group.reports().next().unwrap().unwrap();
                prop_assert!(report.packet().is_some_and(|(_, inner, _)| packet.build().starts_with(&inner[..20])));
            }
        }
    }
}

/// Sends a frame through three nodes that report it without changing it.
fn postcards(domain: &DomainPlan, plan: NodePlan, frame: &[u8]) -> Journey {
    Journey::run_with(domain, &[plan; 3], frame, |config| {
        config.source.mode = Mode::Xd;
        // A host's packet whose DSCP happens to mark INT is not this node's concern.
        (config.encapsulation.dscp, config.encapsulation.dscp_mask) = (Some(0x3f), Some(0x3f));
    })
}

/// The content of a tunnel cannot be changed if the tunnel is fragmented, but it can be reported.
#[test]
fn an_xd_node_reports_the_first_fragment_of_a_tunnel_whose_inner_layer_carries_int() {
    // int-2.1/modes-01
    let domain = DomainPlan([150, 1, 203, 116, 183, 29, 184, 182]);
    assert_eq!(domain.layer(), Layer::Inner);
    let inner = packet().without_ethernet().protocol(7).build();
    assert_eq!(inner.len(), 20);
    let gpe = [&[0x0c, 0, 0, 1, 0, 0, 0, 0][..], &inner].concat();
    for more in [true, false] {
        let frame = packet().udp(1234, 4790).fragment(0, more).payload(&gpe).build();
        let mut journey = postcards(&domain, NodePlan([0; 4]), &frame);
        for (node, sent) in journey.nodes.iter_mut().zip(&journey.frames[1..]) {
            assert_eq!(sent, &frame, "more fragments: {more}");
            let datagram = next_report(node).expect("one report");
            let group = ReportGroup::parse(&datagram).unwrap();
            let report = group.reports().next().unwrap().unwrap();
            let (_, inner, _) = report.packet().unwrap();
            assert!(frame.starts_with(&inner[..20]), "more fragments: {more}");
            assert!(node.poll_output().is_none());
        }
    }
}
