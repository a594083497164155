use std::collections::{BTreeMap, BTreeSet};

use inband_collector::{Collector, CollectorSettings};
use inband_model::HopColumns;

use super::{Encoder, HOPS, Network, Traffic};

#[test]
fn the_same_seed_gives_the_same_reports_and_another_gives_others() {
    let reports = |seed| Network::new(seed, 1_000).reports(1_000);

    assert_eq!(reports(1), reports(1));
    assert_ne!(reports(1), reports(2));
}

#[test]
fn a_flow_keeps_its_path_and_sequence_numbers_have_no_gap() {
    let mut network = Network::new(7, 20_000);
    let mut paths = BTreeMap::new();
    let mut sequences = BTreeMap::new();
    let mut last = 0;
    for _ in 0..20_000 {
        let hops = network.report();
        let path = hops.map(|hop| (hop.node_id, hop.ingress_interface, hop.egress_interface));
        assert_eq!(*paths.entry(hops[0].flow).or_insert(path), path);
        assert_eq!(path.map(|(node, ..)| node).into_iter().collect::<BTreeSet<_>>().len(), HOPS);
        let first = &hops[0];
        assert!(first.received_at.0 > last);
        last = first.received_at.0;
        let stream = (first.reporter, first.hw_id);
        let before = sequences.insert(stream, first.sequence);
        assert!(before.is_none_or(|before| before + 1 == first.sequence));
    }
    assert!(paths.len() > 5_000, "{} flows", paths.len());
}

#[test]
fn the_busiest_flow_sends_far_more_than_the_median_and_clocks_do_not_repeat() {
    let mut network = Network::new(7, 20_000);
    let mut counts = BTreeMap::<_, u64>::new();
    let mut clocks = BTreeSet::new();
    for _ in 0..20_000 {
        let hops = network.report();
        *counts.entry(hops[0].flow).or_default() += 1;
        clocks.extend(hops.map(|hop| hop.ingress_timestamp));
    }

    assert!(counts.values().max() > Some(&500), "{:?}", counts.values().max());
    assert!(clocks.len() > 99_900, "{} clock readings differ", clocks.len());
}

#[test]
fn a_collector_reads_of_a_datagram_what_the_network_told() {
    let mut network = Network::with(7, Traffic { flows: 500, ..Traffic::default() });
    let mut encoder = Encoder::default();
    let mut collector = Collector::new(CollectorSettings::default()).with_records();
    let address = ([127, 0, 0, 1], 32_766).into();
    let (mut expected, mut found) = (HopColumns::default(), HopColumns::default());
    for flow in (0..500).chain(0..500) {
        let hops = network.report_of(flow);
        let datagram = encoder.datagram(&hops).unwrap();
        collector.handle_datagram(hops[0].received_at, address, address, datagram);
        expected.extend_from_slice(&hops);
    }
    while collector.poll_output().is_some() {}
    assert_eq!(collector.take_records(&mut found), 1_000);
    let sorted = |columns: &HopColumns| {
        let mut rows: Vec<_> = columns.iter().map(|hop| format!("{hop:?}")).collect();
        rows.sort();
        rows
    };
    assert_eq!(sorted(&found), sorted(&expected));
}
