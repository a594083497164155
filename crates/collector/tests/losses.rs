//! Reports that only count packets.

mod support;

use inband_collector::NumberSettings;
use inband_model::{EventDetail, EventKind, Nanos, NodeId};
use inband_node::config::{InterfaceConfig, ReportVersion};
use inband_node::{FlowDrops, Node, NodeConfig, Output};
use inband_wire::FiveTuple;

use support::Lab;

#[test]
fn drops_that_a_node_counts_are_drops_of_so_many_packets_in_every_version_that_has_room() {
    for version in [ReportVersion::V0_5, ReportVersion::V2_0] {
        let mut config = NodeConfig::new(5);
        config.interfaces = vec![InterfaceConfig::new(1), InterfaceConfig::new(2)];
        config.report.version = version;
        let mut node = Node::new(&config).unwrap();
        let mut lab = Lab::new();
        for packets in [41, 1] {
            node.handle_flow_drops(&drops(packets), lab.now.0);
        }
        while let Some(report) = node.poll_output().and_then(Output::into_report) {
            lab.datagram(report.payload);
        }
        lab.wait(Nanos::from_secs(1));

        let events = lab.events(EventKind::Drop);

        assert_eq!(events.len(), 1, "{version:?}: {events:?}");
        let EventDetail::Drop(drop) = &events[0].detail else { panic!("{version:?}: {events:?}") };
        assert_eq!((drop.node_id, drop.reports, drop.packets), (NodeId(5), 2, 42), "{version:?}");
        assert_eq!((drop.ingress_interface, drop.egress_interface), (Some(1), Some(2)), "{version:?}");
        assert_eq!(drop.flows[0].destination_port, 9, "{version:?}");
        assert_eq!(lab.events(EventKind::SequenceGap), [], "{version:?}");
    }
}

#[test]
fn nodes_and_collectors_mean_the_same_domain_by_default() {
    assert_eq!(NodeConfig::new(5).loss.domain, NumberSettings::default().summary_domain);
}

fn drops(packets: u32) -> FlowDrops {
    let [source, destination] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(std::net::IpAddr::from);
    let flow = FiveTuple { source, destination, protocol: 17, source_port: 5, destination_port: 9 };
    FlowDrops { flow, packets, since: 1_700_000_000_000_000_000, ingress: 1, egress: 2 }
}
