//! A collector finds the path of a packet from the nodes' own reports.

use std::net::{Ipv4Addr, SocketAddr};

use inband_collector::{Collector, CollectorSettings};
use inband_model::Nanos;
use inband_node::{Node, Outcome, Output};
use inband_testkit::path::{DomainPlan, NodePlan, Place, send};
use inband_testkit::strategies::ip_packet;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, max_global_rejects: 10_000, failure_persistence: inband_testkit::kept_failures!(), ..ProptestConfig::default() })]

    #[test]
    fn the_path_of_an_int_md_flow_is_the_one_its_packet_took(
        packet in ip_packet(60),
        choices in any::<[u8; DomainPlan::BYTES]>(),
        count in 2..=5_usize,
        sink in 0..2_u8,
    ) {
        let mut choices = choices;
        // INT-MD with node ids, metadata of the source, and of the sink in the stack or in its report.
        (choices[1], choices[2], choices[3], choices[4]) = (0, 0x80 | choices[2] & 0x70, 0, 8);
        // A collector without other settings knows the default code points.
        (choices[5], choices[6], choices[7]) = (sink * 8, 0, 0);
        let (domain, plan) = (DomainPlan(choices), NodePlan([0; 4]));
        let mut nodes: Vec<_> = (0..count).zip(1..).map(|(index, id)| {
            let mut config = domain.node(id, Place::of(index, count), &plan);
            config.report.truncate = 1024;
            Node::new(&config).unwrap()
        }).collect();
        let mut frame = packet.build();
        for node in &mut nodes {
            let sent = send(node, &frame, &plan.passage());
            // A payload that looks like INT of another version, on INT's own port, is dropped.
            prop_assume!(sent.is_some());
            frame = sent.unwrap_or_default();
        }
        let was = |node: usize, outcome| nodes[node].counters().get(outcome) == 1;
        prop_assume!(was(0, Outcome::Started) && was(count - 1, Outcome::Stripped));
        prop_assume!(nodes.iter().all(|node| node.counters().get(Outcome::HopsExceeded) == 0));

        let path = collected(nodes[count - 1].poll_output().and_then(Output::into_report).expect("the sink's report").payload);

        prop_assert_eq!(path, Some((1..=u32::try_from(count).unwrap()).collect::<Vec<_>>()));
    }
}

/// The path a collector reports for the only flow of one datagram.
fn collected(datagram: &[u8]) -> Option<Vec<u32>> {
    let mut collector = Collector::new(CollectorSettings::default());
    let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let now = Nanos::from_secs(1_700_000_000);
    collector.handle_datagram(now, address(40000), address(32766), datagram);
    while let Some(due) = collector.poll_timeout().filter(|due| *due < Nanos::from_secs(1_700_000_010)) {
        collector.handle_timeout(due);
    }
    let flow = collector.flows().next()?;
    Some(flow.path?.hops().iter().map(|hop| hop.node_id.0).collect())
}
