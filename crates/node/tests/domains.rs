//! Domain-specific instructions of INT-MD: every hop, source-only, unknown.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{
    ChecksumUpdate, EncapsulationKind, Instruction, Mode, MtuAction, NodeConfig, UnknownInstructions,
};
use inband_node::{Node, Outcome};
use inband_wire::int::Md;

use support::{checksum_is_right, frame, locate, md, node_config, stack, tcp, tcp_frame, through, udp};

fn config(id: u32, edges: (bool, bool)) -> NodeConfig {
    let mut config = node_config(id, edges, EncapsulationKind::Dscp, Mode::Md);
    config.source.instructions = [Instruction::NodeId, Instruction::ChecksumComplement].into_iter().collect();
    config
}

/// A domain with one word for every hop and 8 source-only bytes.
fn known(config: &mut NodeConfig, value: &str) {
    let mut domain = support::domain(0x5453, 0, 2, "source-only", "ethernet-source");
    domain.metadata.extend(support::domain(0x5453, 1, 1, "every-hop", value).metadata);
    config.domains = vec![domain];
}

fn started() -> Vec<u8> {
    let mut config = config(1, (true, false));
    known(&mut config, "0x000000aa");
    config.source.domain = Some(support::source_domain(0x5453, &[0, 1]));
    through(&mut Node::new(&config).unwrap(), &tcp_frame(b"payload")).unwrap()
}

#[test]
fn a_source_adds_its_own_hop_and_source_only_metadata_at_the_bottom() {
    // int-2.1/md-17, int-2.1/md-18, int-2.1/md-20, int-2.1/md-21, int-2.1/md-10, int-2.1/md-16, int-2.1/md-38
    let started = started();
    let (header, location) = md(&started);
    assert_eq!(header.hop_ml().count(), 3, "node id, one word of the domain, complement");
    assert_eq!(started[location.shim + 1], 3 + 3 + 2);
    let hop = [0, 0, 0, 1, 0, 0, 0, 0xaa, 0xff, 0xff, 0xff, 0xff];
    let source_only = [2, 0, 0, 0, 0, 1, 0, 0];
    assert_eq!(stack(&started), [&hop[..], &source_only].concat());
    assert!(checksum_is_right(&started));
}

#[test]
fn a_transit_hop_adds_its_part_of_a_domain_it_knows() {
    // int-2.1/md-13, int-2.1/md-19, int-2.1/md-17
    let before = started();
    let mut config = config(2, (false, false));
    known(&mut config, "0x000000bb");
    let after = through(&mut Node::new(&config).unwrap(), &before).unwrap();
    let hop = [0, 0, 0, 2, 0, 0, 0, 0xbb, 0xff, 0xff, 0xff, 0xff];
    assert_eq!(stack(&after), [&hop[..], stack(&before)].concat());
    assert!(checksum_is_right(&after));
}

#[test]
fn a_transit_hop_pads_a_domain_it_does_not_know_or_adds_nothing_as_configured() {
    // int-2.1/md-26, int-2.1/md-27, int-2.1/md-29
    let before = started();
    let mut config = config(2, (false, false));
    let padded = through(&mut Node::new(&config).unwrap(), &before).unwrap();
    config.node.unknown_instructions = UnknownInstructions::Skip;
    let mut skipping = Node::new(&config).unwrap();
    let skipped = through(&mut skipping, &before).unwrap();
    let mut expected = vec![0, 0, 0, 2];
    expected.extend([0xff; 8]);
    assert_eq!(stack(&padded)[..12], expected);
    assert_eq!(skipped, before);
    assert_eq!(skipping.counters().get(Outcome::UnknownDomain), 1);
}

#[test]
fn the_complement_covers_the_ds_flags_that_a_hop_sets() {
    // int-2.1/checksum-04, int-2.1/transit-04
    let mut source = config(1, (true, false));
    known(&mut source, "0x000000aa");
    source.source.domain = Some(support::source_domain(0x5453, &[0, 1]));
    let originals = [
        (frame(false, 6, &tcp(false, &[], b"payload")), 16),
        (frame(false, 17, &udp(false, 7, b"payload")), 6),
        (frame(true, 17, &udp(true, 7, b"payload")), 6),
    ];
    for (original, checksum) in originals {
        let before = through(&mut Node::new(&source).unwrap(), &original).unwrap();
        // With the smaller MTU the hop reports the stack, removes it and adds its own metadata.
        for (mtu, added) in [(9000, 12), (u32::try_from(before.len() - 14).unwrap(), 0)] {
            let mut config = config(2, (false, false));
            known(&mut config, "0x000000bb");
            config.domains[0].set_flags = 0x00f1;
            config.checksum.update = ChecksumUpdate::Complement;
            config.mtu.action = MtuAction::IntermediateReport;
            config.interfaces[1].mtu = mtu;
            let mut node = Node::new(&config).unwrap();

            let after = through(&mut node, &before).unwrap();

            assert_eq!(node.counters().get(Outcome::Pushed), 1);
            assert_eq!(after.len(), before.len() + added);
            assert_eq!(md(&after).0.ds_flags(), 0x00f1);
            let at = support::layers(&after).l4 + checksum;
            assert_eq!(after[at..at + 2], before[at..at + 2], "the L4 checksum stays");
            assert_ne!(stack(&after)[8..12], [0xff; 4]);
            assert!(checksum_is_right(&after));
        }
    }
}

#[test]
fn the_stack_is_whole_hops_and_the_sources_metadata() {
    // int-2.1/md-41: two hops of Hop ML words each, and below them the words that only the source added.
    let before = started();
    let mut config = config(2, (false, false));
    known(&mut config, "0x000000bb");
    let after = through(&mut Node::new(&config).unwrap(), &before).unwrap();
    let location = locate(&after, EncapsulationKind::Dscp);
    let domains = config.wire_domains().unwrap();
    let md = Md::parse(&after, &location, &domains).unwrap();
    assert_eq!(md.stack.hop_count(), 2);
    assert_eq!(md.stack.source_only(), [2, 0, 0, 0, 0, 1, 0, 0]);
}

#[test]
fn a_sink_leaves_source_only_metadata_to_the_stack() {
    // int-2.1/md-34
    let mut config = config(3, (false, true));
    known(&mut config, "0x000000cc");
    config.sink.own_metadata = inband_node::config::SinkMetadata::Report;
    let mut sink = Node::new(&config).unwrap();
    assert_eq!(through(&mut sink, &started()).unwrap(), tcp_frame(b"payload"));
    support::with_report(&mut sink, |report| {
        assert_eq!(report.ds_md_bits(), 0x4000);
        assert_eq!(report.domain_metadata(), [0, 0, 0, 0xcc]);
    });
}

#[test]
fn domain_0_is_everybodys_and_defines_nothing() {
    // int-2.1/md-14, int-2.1/md-15, int-2.1/mx-06, int-2.1/mx-07
    let mut config = config(1, (true, false));
    config.domains = vec![support::domain(0, 0, 1, "every-hop", "")];
    assert!(Node::new(&config).is_err());
}

#[test]
fn a_source_cannot_ask_for_what_is_not_configured() {
    let mut config = config(1, (true, false));
    config.source.domain = Some(support::source_domain(0x5453, &[0]));
    assert!(Node::new(&config).is_err());
    known(&mut config, "");
    config.source.domain = Some(support::source_domain(0x5453, &[7]));
    assert!(Node::new(&config).is_err());
    config.source.domain = Some(support::source_domain(0x5453, &[16]));
    assert!(Node::new(&config).is_err());
}

/// DS Instruction, the stack and the hops of a packet, as read by a node that knows the domain.
fn read(packet: &[u8], hops: usize, source_only: &[u8]) -> u16 {
    let mut config = config(2, (false, false));
    known(&mut config, "0x000000bb");
    let location = locate(packet, EncapsulationKind::Dscp);
    let md = Md::parse(packet, &location, &config.wire_domains().unwrap()).unwrap();
    assert_eq!((md.stack.hop_count(), md.stack.source_only()), (hops, source_only));
    md.header.ds_instruction()
}

#[test]
fn a_source_clears_the_bits_of_source_only_metadata_that_it_does_not_add() {
    // int-2.1/md-42
    let change: [fn(&mut NodeConfig); 3] = [
        // Room for the fixed headers, and not for hop and source-only metadata.
        |config| config.interfaces[1].mtu = 20 + 20 + 7 + 16 + 12,
        |config| config.source.own_metadata = false,
        |config| config.source.remaining_hops = 0,
    ];
    for (case, change) in change.into_iter().enumerate() {
        let mut source = config(1, (true, false));
        known(&mut source, "0x000000aa");
        source.source.domain = Some(support::source_domain(0x5453, &[0, 1]));
        change(&mut source);
        let sent = through(&mut Node::new(&source).unwrap(), &tcp_frame(b"payload")).unwrap();
        assert_eq!(md(&sent).0.mtu_exceeded(), case == 0);
        assert_eq!(read(&sent, 0, &[]), 0x4000, "case {case}");
        assert!(checksum_is_right(&sent));

        let mut transit = config(2, (false, false));
        known(&mut transit, "0x000000bb");
        let sent = through(&mut Node::new(&transit).unwrap(), &sent).unwrap();
        let hops = usize::from(case != 2);
        assert_eq!(read(&sent, hops, &[]), 0x4000, "case {case}: the next hop is a hop");
    }
}

/// A node whose egress MTU has no room for a hop in `before`.
fn without_room(before: &[u8], knows: bool, change: impl FnOnce(&mut NodeConfig)) -> Node {
    let mut config = config(2, (false, false));
    if knows {
        known(&mut config, "0x000000bb");
    }
    config.mtu.action = inband_node::config::MtuAction::IntermediateReport;
    config.interfaces[1].mtu = u32::try_from(support::layers(before).ip_length()).unwrap();
    change(&mut config);
    Node::new(&config).unwrap()
}

#[test]
fn an_intermediate_report_leaves_source_only_metadata_in_the_packet() {
    // int-2.1/mtu-06: the report is intermediate and has the whole stack; the packet has this node's hop.
    // int-2.1/md-42: the words that only the source added stay, as DS Instruction announces them.
    let before = started();
    let mut node = without_room(&before, true, |_| {});
    let after = through(&mut node, &before).unwrap();
    assert_eq!(read(&after, 1, &[2, 0, 0, 0, 0, 1, 0, 0]), 0xc000);
    assert_eq!(stack(&after)[..8], [0, 0, 0, 2, 0, 0, 0, 0xbb]);
    assert!(checksum_is_right(&after));
    support::with_report(&mut node, |report| {
        assert!(report.intermediate());
        assert_eq!(report.packet().unwrap().1[..before.len()], before);
    });
}

#[test]
fn source_only_metadata_alone_makes_no_room() {
    // int-2.1/mtu-05: a stack without hops cannot be reported to make room: nothing is added, M stays set.
    let before = started();
    let mut first = without_room(&before, true, |_| {});
    let one_hop = through(&mut first, &before).unwrap();
    let mut none_left = without_room(&one_hop, true, |config| config.interfaces[1].mtu -= 12);
    let without_hops = through(&mut none_left, &one_hop).unwrap();
    assert_eq!(read(&without_hops, 0, &[2, 0, 0, 0, 0, 1, 0, 0]), 0xc000);
    assert!(md(&without_hops).0.mtu_exceeded());
    let mut node = without_room(&without_hops, true, |_| {});
    let after = through(&mut node, &without_hops).unwrap();
    assert_eq!(after, without_hops);
    assert!(support::reports(&mut node).is_empty());
    assert_eq!(node.counters().get(Outcome::IntermediateReport), 0);
}

#[test]
fn a_node_that_cannot_tell_hops_from_source_only_metadata_takes_nothing_out() {
    // int-2.1/mtu-05: nothing is added and M is set if the hops cannot be separated from the source's words.
    let before = started();
    let mut node = without_room(&before, false, |_| {});
    let after = through(&mut node, &before).unwrap();
    assert!(md(&after).0.mtu_exceeded());
    assert_eq!(stack(&after), stack(&before));
    assert!(support::reports(&mut node).is_empty());
    assert_eq!(node.counters().get(Outcome::MtuExceeded), 1);
}

#[test]
fn the_source_numbers_only_packets_that_hold_its_numbers() {
    // int-2.1/md-42: the sink would see a gap where no packet was lost.
    let mut source = config(1, (true, false));
    source.domains = vec![support::domain(0x5453, 0, 1, "source-only", "sequence-number")];
    source.source.domain = Some(support::source_domain(0x5453, &[0]));
    source.interfaces[1].mtu = 100;
    let mut node = Node::new(&source).unwrap();
    let mut numbers = Vec::new();
    for payload in [7, 40, 7] {
        let sent = through(&mut node, &tcp_frame(&vec![1; payload])).unwrap();
        let stack = stack(&sent);
        numbers.push(stack.last_chunk::<4>().map(|word| u32::from_be_bytes(*word)));
    }
    assert_eq!(numbers, [Some(1), None, Some(2)]);
}
