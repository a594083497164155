//! The views of the collector.

mod support;

use inband_collector::CollectorSettings;
use inband_model::{Acknowledgement, EventKind, Nanos, NodeId, Phase, Silence};

use support::{Lab, MdPacket, flow, hop, hop_via, hops, node_report, plain_packet, sender, sink_report};

#[test]
fn nodes_are_those_that_report_and_those_on_stacks() {
    let mut lab = Lab::new();
    let packet = MdPacket::new(&[hop(1, 900, 0), hop_via(11, 3, 4, 1_000, 0), hop(2, 800, 0)]).bytes();
    lab.report(2, &sink_report(&packet));
    let first = lab.now;
    lab.report(2, &sink_report(&packet));

    let nodes = lab.collector.nodes();

    assert_eq!(nodes.iter().map(|node| node.node_id.0).collect::<Vec<_>>(), [1, 2, 11]);
    let (transit, sink) = (&nodes[2], &nodes[1]);
    assert_eq!((transit.reports, transit.addresses.as_slice()), (0, &[][..]));
    assert_eq!(transit.egress_interfaces, [4]);
    assert_eq!(transit.latency.unwrap().count, 2);
    assert_eq!((sink.reports, sink.addresses.as_slice()), (2, &[sender().ip()][..]));
    assert_eq!((sink.first_seen, sink.last_seen), (first, lab.now));
    let ids = nodes.iter().map(|node| (node.node_id, node.reports > 0)).collect();
    assert_eq!(lab.collector.node_ids(), ids);
}

#[test]
fn the_latency_of_a_node_is_that_of_all_its_interfaces() {
    let mut lab = Lab::new();
    for (egress, latency) in [(2, 20), (1, 10), (2, 30)] {
        let packet = plain_packet(&flow(1), 64);
        lab.report(5, &node_report(&packet, hop_via(5, 9, egress, latency, 0)));
    }

    let node = lab.collector.nodes().remove(0);

    assert_eq!(node.egress_interfaces, [1, 2]);
    let latency = node.latency.unwrap();
    assert_eq!((latency.count, latency.min, latency.p50, latency.max), (3, Nanos(10), Nanos(20), Nanos(30)));
}

#[test]
fn what_a_node_lost_on_the_way_is_shown_with_it() {
    let mut lab = Lab::new();
    let packet = plain_packet(&flow(1), 64);
    for sequence in [1, 4] {
        lab.datagram(&support::datagram(7, sequence, &[&node_report(&packet, hop(7, 10, 0))]));
    }
    lab.wait(Nanos::from_secs(1));

    let node = lab.collector.nodes().remove(0);

    assert_eq!((node.reports, node.lost, node.lost_unknown), (2, 2, 0));
}

#[test]
fn links_run_from_egress_to_ingress_interfaces() {
    let mut lab = Lab::new();
    let packet = MdPacket::new(&[hop_via(1, 9, 2, 1, 0), hop_via(11, 3, 4, 1, 0), hop_via(2, 5, 9, 1, 0)]);
    lab.report(2, &sink_report(&packet.bytes()));

    let topology = lab.collector.topology();

    let links: Vec<_> = topology
        .links
        .iter()
        .map(|link| (link.from.0, link.egress_interface, link.to.0, link.ingress_interface, link.certain))
        .collect();
    assert_eq!(links, [(1, Some(2), 11, Some(3), true), (11, Some(4), 2, Some(5), true)]);
    assert_eq!(topology.nodes, lab.collector.nodes());
}

#[test]
fn the_flows_with_the_most_reports_come_first() {
    let mut lab = Lab::new();
    for number in 1..=5 {
        let packet = MdPacket { flow: flow(number), ..MdPacket::new(&hops(&[1, 2])) }.bytes();
        for _ in 0..number {
            lab.report(2, &sink_report(&packet));
        }
    }

    let top = |count| lab.collector.top_flows(count).iter().map(|flow| flow.reports).collect::<Vec<_>>();

    assert_eq!(top(2), [5, 4]);
    assert_eq!(top(9), [5, 4, 3, 2, 1]);
    assert_eq!(top(0), [0; 0]);
}

#[test]
fn a_flow_is_found_by_its_five_tuple_and_by_its_id() {
    let mut lab = Lab::new();
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 2])).bytes()));

    let view = lab.collector.flow(&flow(1)).unwrap();

    assert_eq!(lab.collector.flow_by_id(flow(1).id()), Some(view));
    assert_eq!(lab.collector.flow(&flow(2)), None);
}

#[test]
fn the_paths_of_a_flow_are_remembered_the_latest_first() {
    let mut lab = Lab::new();
    let path = |lab: &Lab| {
        let paths = lab.collector.flow_paths(&flow(1));
        paths.iter().map(|view| (view.path.hops()[1].node_id.0, view.current)).collect::<Vec<_>>()
    };
    for node in 11..=30 {
        lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, node, 2])).bytes()));
    }

    assert_eq!(
        path(&lab),
        [
            (30, true),
            (29, false),
            (28, false),
            (27, false),
            (26, false),
            (25, false),
            (24, false),
            (23, false)
        ]
    );
    let copied = lab.collector.flow_snapshot_of(&flow(1)).unwrap();
    assert_eq!(Some(copied.flow(0)), lab.collector.flow(&flow(1)));
    assert_eq!(copied.paths(0).collect::<Vec<_>>(), lab.collector.flow_paths(&flow(1)));
    assert!(lab.collector.flow_snapshot_of(&flow(2)).is_none());
    let paths = lab.collector.flow_paths(&flow(1));
    assert!(paths.windows(2).all(|pair| pair[1].until <= pair[0].since && pair[1].since <= pair[1].until));
    assert_eq!(lab.collector.flow_paths(&flow(2)), []);
}

#[test]
fn utilisation_is_shown_by_interface() {
    let mut lab = Lab::new();
    for (utilization, expected) in [(40, 40), (90, 90), (70, 90)] {
        let metadata =
            inband_wire::int::HopMetadata { egress_utilization: Some(utilization), ..hop(5, 1, 0) };
        let packet = plain_packet(&flow(1), 64);
        let report = inband_wire::report::Draft {
            instructions: inband_wire::int::Instructions(0xfd00),
            ..node_report(&packet, metadata)
        };
        lab.report(5, &report);
        let level = lab.collector.ports().next().unwrap().utilization.unwrap();
        assert_eq!((level.last, level.max, level.last_at), (utilization, expected, lab.now));
    }
}

#[test]
fn an_event_goes_on_until_it_ends_and_is_past_then() {
    let mut lab = Lab::new();
    congest(&mut lab);
    let event = lab.collector.active_events().next().unwrap().clone();
    assert_eq!((event.event.kind(), event.event.phase), (EventKind::QueueCongestion, Phase::Begin));
    let known = Acknowledgement { by: "night shift".into(), comment: "known".into(), at: lab.now };
    assert!(lab.collector.acknowledge(event.id, known.clone()));

    lab.wait(Nanos::from_millis(10));

    assert_eq!(lab.collector.active_events().count(), 0);
    let past = lab.collector.past_events().next().unwrap();
    assert_eq!((past.id, past.event.phase, past.acknowledged.as_ref()), (event.id, Phase::End, Some(&known)));
    assert_eq!(lab.events(EventKind::QueueCongestion).len(), 2);
}

#[test]
fn a_silenced_event_is_given_out_and_marked() {
    let mut lab = Lab::with(CollectorSettings::default());
    let silence = Silence { key: "node 5 ".into(), ..Silence::default() };
    let number = lab.collector.silence(silence.clone()).unwrap();
    congest(&mut lab);
    assert!(lab.events(EventKind::QueueCongestion)[0].silenced);
    assert_eq!(lab.collector.silences().collect::<Vec<_>>(), [(number, &silence)]);

    assert!(lab.collector.lift_silence(number));
    lab.wait(Nanos::from_millis(10));

    assert!(!lab.events(EventKind::QueueCongestion)[0].silenced);
}

fn congest(lab: &mut Lab) {
    lab.report(5, &node_report(&plain_packet(&flow(1), 64), hop(5, 500_000, 9)));
    assert_eq!(lab.collector.nodes()[0].node_id, NodeId(5));
}
