//! Source-inserted metadata of INT-MX: reporting and mutability; DS Flags; values.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{
    DomainConfig, EncapsulationKind, Instruction, Mode, NodeConfig, SinkMetadata, SourceInserted,
    UnknownInstructions,
};
use inband_node::{Node, Outcome};
use inband_wire::int::Mx;

use support::{checksum_is_right, locate, md, node_config, reports, tcp_frame, through, with_report};

const DOMAIN: u16 = 0xabcd;

/// Bits 1, 3 and 4 are inserted by the source, reported by all nodes, the sink and none; bit 2 is exported.
fn domain(values: [&str; 4], mutability: &str) -> DomainConfig {
    let [all, exported, sink, none] = values;
    let inserted = |bit, reporting, value| {
        format!(
            "[[metadata]]\nbit = {bit}\nplacement = \"source-inserted\"\nreporting = \"{reporting}\"\n\
             mutability = \"{mutability}\"\nvalue = \"{value}\"\n"
        )
    };
    let exported = format!("[[metadata]]\nbit = 2\nplacement = \"export\"\nvalue = \"{exported}\"\n");
    let text = [
        format!("id = {DOMAIN}\n"),
        inserted(1, "all-nodes", all),
        exported,
        inserted(3, "sink-node", sink),
        inserted(4, "none", none),
    ];
    toml::from_str(&text.concat()).unwrap()
}

const SOURCE: [&str; 4] = ["11111111", "22222222", "33333333", "44444444"];

fn config(id: u32, edges: (bool, bool)) -> NodeConfig {
    let mut config = node_config(id, edges, EncapsulationKind::Dscp, Mode::Mx);
    config.source.instructions = [Instruction::NodeId].into_iter().collect();
    config.domains = vec![domain(SOURCE, "source-only")];
    config.source.domain = Some(support::source_domain(DOMAIN, &[1, 2, 3, 4]));
    config
}

fn started() -> Vec<u8> {
    through(&mut Node::new(&config(1, (true, false))).unwrap(), &tcp_frame(b"payload")).unwrap()
}

fn inserted(frame: &[u8]) -> Vec<u8> {
    Mx::parse(frame, &locate(frame, EncapsulationKind::Dscp)).unwrap().source_inserted.to_vec()
}

/// DSMdBits and domain-specific metadata of the report that a node makes of `frame`.
fn reported(config: &NodeConfig, frame: &[u8]) -> (u16, Vec<u8>) {
    let mut node = Node::new(config).unwrap();
    through(&mut node, frame).unwrap();
    let mut seen = None;
    with_report(&mut node, |report| seen = Some((report.ds_md_bits(), report.domain_metadata().to_vec())));
    seen.unwrap()
}

/// The words `first first first first second …`.
fn words(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| [*byte; 4]).collect()
}

#[test]
fn a_copy_is_reported_by_the_nodes_its_requirement_names_in_the_order_of_the_bits() {
    // int-2.1/mx-11, int-2.1/mx-12, int-2.1/mx-13, int-2.1/mx-22, int-2.1/mx-23, int-2.1/mx-24
    let before = started();
    assert_eq!(inserted(&before), words(&[0x11, 0x33, 0x44]));
    for (edges, expected) in
        [((false, false), (0x6000, vec![0x11, 0x22])), ((false, true), (0x7000, vec![0x11, 0x22, 0x33]))]
    {
        let mut config = config(2, edges);
        config.report.source_inserted = SourceInserted::Metadata;
        assert_eq!(reported(&config, &before), (expected.0, words(&expected.1)));
    }
}

#[test]
fn the_source_copies_what_it_inserted_into_its_own_report() {
    // int-2.1/mx-11
    let mut config = config(1, (true, false));
    config.report.source_inserted = SourceInserted::Metadata;
    assert_eq!(reported(&config, &tcp_frame(b"")), (0x6000, words(&[0x11, 0x22])));
}

#[test]
fn a_copy_that_makes_the_reports_metadata_too_long_stays_in_the_fragment() {
    // int-2.1/mx-22, int-2.1/mx-25
    let long = |words: u8| {
        let text = format!(
            "id = {DOMAIN}\n[[metadata]]\nbit = 0\nwords = 127\nplacement = \"source-inserted\"\n\
             [[metadata]]\nbit = 1\nwords = {words}\nplacement = \"export\"\nvalue = \"{}\"\n",
            "ab".repeat(usize::from(words) * 4)
        );
        toml::from_str::<DomainConfig>(&text).unwrap()
    };
    // Together with the hop latency, 255 and 256 words.
    for (exported, ds_md_bits) in [(127, 0xc000), (128, 0x4000)] {
        let mut config = config(1, (true, false));
        config.source.instructions = [Instruction::NodeId, Instruction::HopLatency].into_iter().collect();
        config.domains = vec![long(exported)];
        config.source.domain = Some(support::source_domain(DOMAIN, &[0, 1]));
        config.report.source_inserted = SourceInserted::Metadata;
        config.report.path_mtu = 9000;
        let mut node = Node::new(&config).unwrap();
        through(&mut node, &tcp_frame(b"payload")).unwrap();
        assert_eq!(node.counters().get(Outcome::ReportShed), 0);
        with_report(&mut node, |report| {
            assert_eq!(report.ds_md_bits(), ds_md_bits, "{exported} words");
            assert_eq!(report.metadata().hop_latency, Some(1000));
            let words = usize::from(exported) + if ds_md_bits == 0xc000 { 127 } else { 0 };
            assert_eq!(report.domain_metadata().len(), words * 4);
            // The fragment has it in any case.
            let (_, packet, _) = report.packet().unwrap();
            assert!(packet.len() > 14 + 20 + 20 + 16 + 127 * 4);
        });
    }
}

#[test]
fn what_stays_in_the_header_has_its_bits_cleared_however_short_the_fragment_is() {
    // int-2.1/mx-22, int-2.1/mx-25
    let before = started();
    for truncate in [0, 128] {
        let mut config = config(2, (false, false));
        config.report.truncate = truncate;
        assert_eq!(reported(&config, &before), (0x2000, words(&[0x22])), "{truncate} bytes");
    }
}

#[test]
fn cumulative_metadata_is_replaced_by_nodes_that_have_a_value_and_the_rest_is_not() {
    // int-2.1/mx-15, int-2.1/mx-14
    let before = started();
    let own = ["0a0a0a0a", "0b0b0b0b", "0c0c0c0c", "0d0d0d0d"];
    for (mutability, expected) in
        [("cumulative", words(&[0x0a, 0x0c, 0x0d])), ("source-only", words(&[0x11, 0x33, 0x44]))]
    {
        let mut config = config(2, (false, false));
        config.domains = vec![domain(own, mutability)];
        let after = through(&mut Node::new(&config).unwrap(), &before).unwrap();
        assert_eq!(inserted(&after), expected, "{mutability}");
        assert!(checksum_is_right(&after));
    }
}

#[test]
fn metadata_whose_length_is_not_what_the_node_knows_is_neither_changed_nor_copied() {
    // int-2.1/mx-14, int-2.1/mx-25
    let before = started();
    let mut config = config(2, (false, false));
    config.domains = vec![domain(SOURCE, "cumulative")];
    config.domains[0].metadata[0].words = 2;
    config.domains[0].metadata[0].value = inband_node::config::Value::FlowId;
    config.report.source_inserted = SourceInserted::Metadata;
    let mut node = Node::new(&config).unwrap();
    assert_eq!(through(&mut node, &before).unwrap(), before);
    with_report(&mut node, |report| assert_eq!(report.ds_md_bits(), 0x2000));
}

#[test]
fn a_transit_hop_sets_the_ds_flags_it_is_told_to_and_a_sink_does_not() {
    // int-2.1/transit-04, int-2.1/mx-34, int-2.1/md-39
    for mode in [Mode::Md, Mode::Mx] {
        let mut source = config(1, (true, false));
        source.source.mode = mode;
        source.source.domain.as_mut().unwrap().flags = 0x8001;
        let before = through(&mut Node::new(&source).unwrap(), &tcp_frame(b"")).unwrap();
        let at = locate(&before, EncapsulationKind::Dscp).header + 10;
        assert_eq!(before[at..at + 2], [0x80, 0x01]);
        let mut transit = config(2, (false, false));
        transit.domains[0].set_flags = 0x4000;
        let after = through(&mut Node::new(&transit).unwrap(), &before).unwrap();
        assert_eq!(after[at..at + 2], [0xc0, 0x01], "{mode:?}");
        assert!(checksum_is_right(&after));
        let mut sink = config(3, (false, true));
        sink.domains[0].set_flags = 0x4000;
        let mut sink = Node::new(&sink).unwrap();
        assert_eq!(through(&mut sink, &before).unwrap(), tcp_frame(b""));
        with_report(&mut sink, |report| {
            assert_eq!(report.packet().unwrap().1[at..at + 2], [0x80, 0x01], "{mode:?}");
        });
    }
}

#[test]
fn values_are_the_flow_a_number_and_the_senders_address() {
    // int-2.1/mx-10
    let mut config = config(1, (true, false));
    config.domains =
        vec![domain(["sequence-number", "flow-id", "ethernet-source", "flow-id"], "source-only")];
    config.domains[0].metadata[2].words = 2;
    let mut source = Node::new(&config).unwrap();
    let flow = inserted(&through(&mut source, &tcp_frame(b"a")).unwrap())[12..].to_vec();
    let second = inserted(&through(&mut source, &tcp_frame(b"b")).unwrap());
    let expected = [&[0, 0, 0, 2][..], &[2, 0, 0, 0, 0, 1, 0, 0], &flow].concat();
    assert_eq!(second, expected);
    assert_ne!(flow, [0xff; 4]);
    let last = reports(&mut source).pop().unwrap();
    let group = inband_wire::report::ReportGroup::parse(&last).unwrap();
    assert_eq!(group.reports().next().unwrap().unwrap().domain_metadata(), flow);
}

#[test]
fn a_sink_that_skips_unknown_domains_still_reports_the_stack() {
    // report-2.0/metadata-08, int-2.1/md-26
    let mut source = config(1, (true, false));
    source.source.mode = Mode::Md;
    let before = through(&mut Node::new(&source).unwrap(), &tcp_frame(b"")).unwrap();
    let (_, location) = md(&before);
    let mut sink = node_config(3, (false, true), EncapsulationKind::Dscp, Mode::Md);
    sink.node.unknown_instructions = UnknownInstructions::Skip;
    sink.sink.own_metadata = SinkMetadata::Report;
    let mut sink = Node::new(&sink).unwrap();
    assert_eq!(through(&mut sink, &before).unwrap(), tcp_frame(b""));
    assert_eq!(sink.counters().get(Outcome::UnknownDomain), 1);
    with_report(&mut sink, |report| {
        assert_eq!(report.ds_md_bits(), 0);
        assert_eq!(report.packet().unwrap().1[..location.end], before[..location.end]);
    });
}

#[test]
fn a_monitoring_system_reads_it_from_the_header_and_from_the_report() {
    // int-2.1/mx-26, int-2.1/mx-23
    let before = started();
    let location = locate(&before, EncapsulationKind::Dscp);
    for (place, copied) in
        [(SourceInserted::Header, vec![0x22]), (SourceInserted::Metadata, vec![0x11, 0x22])]
    {
        let mut config = config(2, (false, false));
        config.report.source_inserted = place;
        let mut node = Node::new(&config).unwrap();
        through(&mut node, &before).unwrap();
        with_report(&mut node, |report| {
            let fragment = report.packet().unwrap().1;
            let mx = Mx::parse(fragment, &location).unwrap();
            assert_eq!(mx.source_inserted, words(&[0x11, 0x33, 0x44]));
            assert_eq!(report.domain_metadata(), words(&copied));
        });
    }
}
