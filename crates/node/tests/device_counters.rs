//! A device's counters as domain-specific metadata, INT 2.1 appendix A.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, Instruction, Mode, NodeConfig};
use inband_node::frame::MAX_GROWTH;
use inband_node::{DeviceCounters, Frame, InterfaceCounters, Node, Passage};
use inband_wire::Link;

use support::{node_config, passage, stack, tcp_frame};

const NAMES: [&str; 7] =
    ["state-version", "rx-packets", "rx-bytes", "rx-drops", "tx-packets", "tx-bytes", "tx-drops"];

/// A node whose hops are these counters, each this many words long.
fn config(mode: Mode, words: u8, placement: &str) -> NodeConfig {
    let mut config = node_config(1, (true, mode == Mode::Xd), EncapsulationKind::Dscp, mode);
    config.source.instructions = [Instruction::NodeId].into_iter().collect();
    let mut domain = support::domain(0x5453, 0, words, placement, NAMES[0]);
    for (bit, name) in (1..).zip(&NAMES[1..]) {
        domain.metadata.extend(support::domain(0x5453, bit, words, placement, name).metadata);
    }
    config.domains = vec![domain];
    config.source.domain = Some(support::source_domain(0x5453, &[0, 1, 2, 3, 4, 5, 6]));
    config
}

fn counters(from: u64) -> DeviceCounters {
    let of =
        |first| InterfaceCounters { packets: Some(first), bytes: Some(first + 1), drops: Some(first + 2) };
    DeviceCounters { state_version: Some(from), ingress: of(from + 1), egress: of(from + 4) }
}

/// Passes a packet with these counters to the node; returns the frame that leaves.
fn sent(node: &mut Node, counters: Option<DeviceCounters>) -> Vec<u8> {
    let mut passage: Passage = passage();
    passage.metadata.counters = counters;
    let mut buffer = [vec![0; MAX_GROWTH], tcp_frame(b"payload")].concat();
    let mut frame = Frame::behind_headroom(&mut buffer).unwrap();
    let _ = node.handle_frame(Link::Ethernet, &mut frame, &passage);
    frame.bytes().to_vec()
}

fn words(frame: &[u8]) -> Vec<u32> {
    stack(frame).as_chunks::<4>().0.iter().map(|word| u32::from_be_bytes(*word)).collect()
}

#[test]
fn every_counter_has_its_place_in_a_hop() {
    let mut node = Node::new(&config(Mode::Md, 1, "every-hop")).unwrap();
    assert!(node.profile().reads_counters());
    assert_eq!(words(&sent(&mut node, Some(counters(100)))), [1, 100, 101, 102, 103, 104, 105, 106]);

    let mut node = Node::new(&config(Mode::Md, 2, "every-hop")).unwrap();
    let high = 5_u64 << 32;
    let expected = (100..107).flat_map(|low| [5, low]);
    let expected: Vec<u32> = std::iter::once(1).chain(expected).collect();
    assert_eq!(words(&sent(&mut node, Some(counters(high + 100)))), expected);
}

#[test]
fn a_counter_longer_than_its_metadata_wraps_and_is_never_all_ones() {
    let mut node = Node::new(&config(Mode::Md, 1, "every-hop")).unwrap();
    let first = u64::from(u32::MAX) - 1;
    let expected = [1, 0xffff_fffe, 0xffff_fffe, 0, 1, 2, 3, 4];
    assert_eq!(words(&sent(&mut node, Some(counters(first)))), expected);
}

#[test]
fn counters_that_a_device_does_not_have_are_not_available() {
    let mut node = Node::new(&config(Mode::Md, 1, "every-hop")).unwrap();
    let none = u32::MAX;
    assert_eq!(words(&sent(&mut node, None)), [1, none, none, none, none, none, none, none]);
    let mut some = counters(7);
    some.state_version = None;
    some.ingress.drops = None;
    assert_eq!(words(&sent(&mut node, Some(some))), [1, none, 8, 9, none, 11, 12, 13]);
}

#[test]
fn a_report_contains_the_counters_that_are_available() {
    let mut node = Node::new(&config(Mode::Xd, 1, "export")).unwrap();
    let mut some = counters(7);
    some.egress = InterfaceCounters::default();
    sent(&mut node, Some(some));
    support::with_report(&mut node, |report| {
        assert_eq!(report.ds_md_bits(), 0xf000);
        assert_eq!(report.domain_metadata(), [0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 10]);
    });
}

#[test]
fn other_values_read_no_counters() {
    let mut config = config(Mode::Md, 1, "every-hop");
    config.domains = vec![support::domain(0x5453, 0, 1, "every-hop", "node-id")];
    config.source.domain = Some(support::source_domain(0x5453, &[0]));
    assert!(!Node::new(&config).unwrap().profile().reads_counters());
}
