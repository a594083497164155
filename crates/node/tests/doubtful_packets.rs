//! Truncated tunnels, and packets that seem to carry INT already, at a source.
#![allow(clippy::unwrap_used, reason = "the helper is a test's")]

use inband_node::config::{Prefix, WatchEntry};
use inband_node::{Node, Outcome};
use inband_testkit::path::{DomainPlan, NodePlan, Place, nodes, send};
use inband_testkit::{int_md, oracle, packet};

const VXLAN_GPE: DomainPlan = DomainPlan([5, 0, 0x90, 0, 0, 0, 0, 0]);
const GENEVE: DomainPlan = DomainPlan([6, 0, 0x90, 0, 0, 0, 0, 0]);
const GRE: DomainPlan = DomainPlan([4, 0, 0x90, 0, 0, 0, 0, 0]);

/// Sends a frame through source and sink; returns what each sent, and whether INT was started.
fn through(domain: DomainPlan, frame: &[u8]) -> (Vec<u8>, Vec<u8>, bool) {
    let plan = NodePlan([0; 4]);
    let mut nodes = nodes(&domain, &[plan; 2]);
    let sent = send(&mut nodes[0], frame, &plan.passage()).unwrap();
    let left = send(&mut nodes[1], &sent, &plan.passage()).unwrap();
    let is_started = nodes[0].counters().get(Outcome::Started) == 1;
    (sent, left, is_started)
}

#[test]
fn a_tunnel_header_that_is_half_padding_starts_no_int() {
    // int-2.1/encapsulation-02
    let padding = [0; 32];
    let cases = [
        (VXLAN_GPE, packet().udp(7, 4790).payload(&[0x0c, 0, 0]).padding(&padding)),
        (GENEVE, packet().udp(7, 6081).payload(&[0x00, 0, 0x65]).padding(&padding)),
        (GRE, packet().protocol(47).payload(&[0x80, 0, 8, 0]).padding(&padding)),
    ];
    for (domain, packet) in cases {
        let frame = packet.build();
        let (sent, left, is_started) = through(domain, &frame);
        assert!(!is_started, "{packet:?}");
        assert_eq!((&sent, &left), (&frame, &frame));
    }
}

#[test]
fn int_is_not_started_in_what_a_host_sent_as_int_and_does_not_leave_the_domain() {
    // int-2.1/domain-03, int-2.1/domain-07: an INT header of version 0 is unknown to this node.
    let mut int = int_md().hop(1).bytes();
    (int[3], int[4]) = (3, 0);
    let chained =
        packet().udp(7, 4790).payload(&[&[0x0c, 0, 0, 0x82, 0, 0, 7, 0][..], &int, &[0; 14]].concat());
    let option = [&[6, 0, 0x65, 0x58, 0, 0, 7, 0][..], &[0x01, 0x03, 0x01, 5], &int[4..], &[0; 14]].concat();
    for (domain, packet) in [(VXLAN_GPE, chained), (GENEVE, packet().udp(7, 6081).payload(&option))] {
        let frame = packet.build();
        let plan = NodePlan([0; 4]);
        let mut nodes = nodes(&domain, &[plan; 2]);
        let sent = send(&mut nodes[0], &frame, &plan.passage()).unwrap();
        assert_eq!(sent, frame, "{packet:?}");
        assert_eq!(nodes[0].counters().get(Outcome::Started), 0);
        assert_eq!(send(&mut nodes[1], &sent, &plan.passage()), None);
        assert_eq!(nodes[1].counters().get(Outcome::UnknownVersion), 1);
    }
}

#[test]
fn whole_tunnel_headers_start_int_that_comes_out_again() {
    // int-2.1/vxlan-08, int-2.1/gre-01, int-2.1/gre-02
    let cases = [
        (VXLAN_GPE, packet().udp(7, 4789).payload(&[8, 0, 0, 0, 0, 0, 7, 0])),
        (VXLAN_GPE, packet().udp(7, 4790).payload(&[12, 0, 0, 3, 0, 0, 7, 0])),
        (GENEVE, packet().udp(7, 6081).payload(&[1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 0])),
        (GRE, packet().protocol(47).payload(&[0x20, 0, 8, 0, 0, 0, 0, 9])),
    ];
    for (domain, packet) in cases {
        let frame = packet.padding(&[0xee; 5]).build();
        let (sent, left, is_started) = through(domain, &frame);
        assert!(is_started && sent.len() > frame.len());
        assert_eq!(oracle::l4_sum(&sent), oracle::l4_sum(&frame));
        assert_eq!(left, frame);
    }
}

#[test]
fn a_geneve_option_takes_31_words_and_not_one_hop_more() {
    // int-2.1/geneve-05, int-2.1/md-28, int-2.1/md-29
    let plan = NodePlan([0; 4]);
    let mut transit = nodes(&GENEVE, &[plan; 3]).remove(1);
    let int = (1..=13).fold(int_md(), |int, id| int.hop(id)).bytes();
    let option =
        [&[30, 0, 0x65, 0x58, 0, 0, 7, 0][..], &[0x01, 0x03, 0x01, 29], &int[4..], &[0; 14]].concat();
    let frame = packet().udp(7, 6081).payload(&option).build();

    let full = send(&mut transit, &frame, &plan.passage()).unwrap();
    let same = send(&mut transit, &full, &plan.passage()).unwrap();

    assert_eq!((full.len(), full[42], full[53]), (frame.len() + 8, 32, 31));
    assert_eq!(oracle::l4_sum(&full), Some(0xffff));
    assert_eq!(same, full);
    assert_eq!(transit.counters().get(Outcome::StackFull), 1);
}

#[test]
fn a_payload_that_starts_like_a_shim_of_old_is_no_int() {
    // int-2.1/domain-04: 2 was the type of a destination header before 2.0.
    let by_dscp_bit = DomainPlan([182, 125, 165, 176, 165, 47, 127, 143]);
    let plan = NodePlan([156, 0, 0, 0]);
    for byte in 0..=0x0f {
        let frame = packet().dscp(32).tcp(0, 0).payload(&[byte; 8]).build();
        let nobody: Prefix = "198.51.100.0/24".parse().unwrap();
        for node in 0..2 {
            let place = Place::of(node, 2);
            let mut config = by_dscp_bit.node(1, place, &plan);
            config.watchlist = vec![WatchEntry { either: Some(nobody), ..WatchEntry::default() }];
            let mut node = Node::new(&config).unwrap();
            let sent = send(&mut node, &frame, &plan.passage()).unwrap();
            let is_untouched = sent == frame || node.counters().get(Outcome::Remarked) == 1;
            assert!(is_untouched, "{place:?}, payload of {byte}");
        }
    }
}

#[test]
fn a_sink_leaves_what_a_capture_cut_inside_the_stack() {
    let plan = NodePlan([0; 4]);
    for version in [0, 200, 214] {
        let dscp = DomainPlan([0, version, 0x90, 0, 0, 0, 0, 0]);
        let (sent, left, _) = through(dscp, &packet().tcp(1, 80).payload(b"data").build());
        assert_eq!(left.len(), 58);
        for length in 54..sent.len() - 4 {
            let mut sink = nodes(&dscp, &[plan; 2]).remove(1);
            let cut = &sent[..length];
            let found = send(&mut sink, cut, &plan.passage()).unwrap();
            let is_stripped = sink.counters().get(Outcome::Stripped) == 1;
            assert!(found == cut && !is_stripped, "version {version}, {length} bytes");
        }
    }
}
