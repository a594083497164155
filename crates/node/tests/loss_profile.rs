//! Loss detection for INT 2.1 packets with Host-INT's numbers as domain-specific metadata.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, Mode, NodeConfig};
use inband_node::{Node, Outcome};

use support::{node_config, tcp_frame, through, with_report};

const DOMAIN: u16 = 0x4849;

fn config(id: u32, edges: (bool, bool), mode: Mode) -> NodeConfig {
    let placement = if mode == Mode::Mx { "source-inserted" } else { "source-only" };
    let bit = |bit, value| {
        format!(
            "[[metadata]]\nbit = {bit}\nplacement = \"{placement}\"\nreporting = \"none\"\nvalue = \"{value}\"\n"
        )
    };
    let domain = format!("id = {DOMAIN}\n{}{}", bit(3, "node-id"), bit(5, "flow-sequence"));
    let mut config = node_config(id, edges, EncapsulationKind::Dscp, mode);
    config.source.instructions = std::iter::empty().collect();
    config.source.domain = Some(support::source_domain(DOMAIN, &[3, 5]));
    config.domains = vec![toml::from_str(&domain).unwrap()];
    config.loss.detect = edges.1;
    config
}

fn source_and_sink(mode: Mode) -> (Node, Node) {
    let node = |id, edges| {
        let mut config = config(id, edges, mode);
        config.interfaces.iter_mut().for_each(|interface| interface.mtu = 1500);
        Node::new(&config).unwrap()
    };
    (node(1, (true, false)), node(2, (false, true)))
}

/// Sends `count` packets and loses those whose numbers, from 1 on, are in `lost`.
fn send(mode: Mode, count: u32, lost: &[u32]) -> Node {
    let (mut source, mut sink) = source_and_sink(mode);
    for number in 1..=count {
        let original = tcp_frame(b"payload");
        let numbered = through(&mut source, &original).unwrap();
        assert_ne!(numbered, original);
        if !lost.contains(&number) {
            assert_eq!(through(&mut sink, &numbered), Some(original), "number {number}");
        }
    }
    while sink.poll_output().is_some() {}
    sink.flush_reports();
    sink
}

#[test]
fn a_gap_in_the_numbers_is_reported_with_host_ints_summary() {
    for mode in [Mode::Md, Mode::Mx] {
        let mut sink = send(mode, 9, &[4, 5]);
        assert_eq!(sink.counters().get(Outcome::LossFound), 1);
        let mut seen = None;
        with_report(&mut sink, |report| {
            seen = Some((report.domain_specific_id(), report.domain_metadata().to_vec(), report.dropped()));
        });
        let (domain, summary, dropped) = seen.unwrap();
        assert_eq!((domain, dropped), (DOMAIN, true));
        // Node ids of source and sink, interfaces, time, the last number before the gap, the missing count.
        assert_eq!(
            (&summary[..8], &summary[16..]),
            (&[0, 0, 0, 1, 0, 0, 0, 2][..], &[0, 0, 0, 3, 0, 0, 0, 2][..])
        );
    }
}

#[test]
fn no_gap_is_no_loss() {
    for mode in [Mode::Md, Mode::Mx] {
        let mut sink = send(mode, 9, &[]);
        assert_eq!(sink.counters().get(Outcome::LossFound), 0);
        assert_eq!(sink.poll_output(), None);
    }
}

#[test]
fn a_packet_that_has_no_room_for_int_takes_no_number() {
    let (mut source, mut sink) = source_and_sink(Mode::Mx);
    for payload in [10, 1450, 10, 1450, 10] {
        let sent = through(&mut source, &tcp_frame(&vec![7; payload])).unwrap();
        through(&mut sink, &sent).unwrap();
    }
    sink.flush_reports();
    assert_eq!(source.counters().get(Outcome::NotStartedMtu), 2);
    assert_eq!(sink.counters().get(Outcome::LossFound), 0);
}

#[test]
fn a_packet_whose_number_has_no_room_leaves_no_gap() {
    // int-2.1/md-42: with room only for the fixed headers, the source assigns no number, and indicates it.
    let (mut source, mut sink) = source_and_sink(Mode::Md);
    let mut last = 0;
    for payload in [10, 1435, 1436, 1440, 1444, 1450, 10, 1439, 10] {
        let original = tcp_frame(&vec![7; payload]);
        let sent = through(&mut source, &original).unwrap();
        assert_eq!(through(&mut sink, &sent), Some(original), "{payload} bytes");
        last = payload;
    }
    assert_eq!(last, 10);
    sink.flush_reports();
    assert!(source.counters().get(Outcome::Started) > 5);
    assert_eq!(sink.counters().get(Outcome::LossFound), 0);
}

#[test]
fn no_loss_is_found_around_the_mtu_where_none_is() {
    for hops in [false, true] {
        let path = [(1, (true, false)), (2, (false, false)), (3, (false, true))];
        let mut nodes = path.map(|(id, edges)| {
            let mut config = config(id, edges, Mode::Md);
            if hops {
                config.source.instructions = inband_node::config::SourceConfig::default().instructions;
            }
            config.mtu.action = inband_node::config::MtuAction::IntermediateReport;
            config.interfaces.iter_mut().for_each(|interface| interface.mtu = 1500);
            Node::new(&config).unwrap()
        });
        for number in 0..5000 {
            let original = tcp_frame(&vec![7; 1400 + number % 60]);
            let mut packet = original.clone();
            for node in &mut nodes {
                packet = through(node, &packet).unwrap();
                while node.poll_output().is_some() {}
            }
            assert_eq!(packet, original, "number {number}");
        }
        let sink = &mut nodes[2];
        sink.flush_reports();
        assert_eq!(sink.counters().get(Outcome::LossFound), 0, "with hops {hops}");
    }
}
