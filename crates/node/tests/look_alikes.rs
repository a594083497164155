//! Users' packets that have the mark of INT and begin like INT, but carry none.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, Mode, NodeConfig};
use inband_node::{Node, Outcome};
use inband_testkit::{int_md, int_mx};

use support::{
    checksum_is_right, ip_checksum_is_right, ipv4, node_config, reports, tcp, through, udp, with_report,
};

/// A frame with DSCP 0x17, which marks INT.
fn marked(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = support::frame(false, protocol, payload);
    frame[15] = 0x17 << 2 | 1;
    support::repair_ip_checksum(&mut frame);
    frame
}

/// Payloads that read as a destination header, as INT-MX and as INT-MX with metadata.
fn payloads() -> [Vec<u8>; 3] {
    let text = b"# comment line of a plain text file; ".repeat(6);
    let csv = b"12.5,33.1,7.25,18.0,44.4,12.9,".repeat(8);
    let record = [&[0x30, 3, 0x12, 0][..], &[0x20; 60]].concat();
    [text, csv, record]
}

fn packets() -> Vec<Vec<u8>> {
    let over =
        |payload: Vec<u8>| [marked(17, &udp(false, 7777, &payload)), marked(6, &tcp(false, &[], &payload))];
    payloads().into_iter().flat_map(over).collect()
}

/// Tunnels to which the DSCP of the packet inside was copied: Geneve with 34 words of options, and GTP-U
/// whose TEID begins like INT 2.1.
fn tunnels() -> [Vec<u8>; 2] {
    let options = [&[1, 2, 1, 31][..], &[b'z'; 124], &[1, 2, 2, 1], b"abcd"].concat();
    let geneve =
        [&[34, 0, 0x65, 0x58, 0, 0, 7, 0][..], &options, &marked(6, &tcp(false, &[], &[7; 60]))].concat();
    let inner = ipv4(17, &udp(false, 53, &[b'y'; 1072]));
    let gtpu = [&[0x30, 0xff, 0x04, 0x4c, 0x21, 0, 0, 1][..], &inner].concat();
    [marked(17, &udp(false, 6081, &geneve)), marked(17, &udp(false, 2152, &gtpu))]
}

/// A node of the domain, whose watchlist is empty unless `is_watched`.
fn node(edges: (bool, bool), mode: Mode, is_watched: bool) -> NodeConfig {
    let mut config = node_config(7, edges, EncapsulationKind::Dscp, mode);
    if !is_watched {
        config.watchlist.clear();
    }
    config
}

/// The frame without the mark in its DSCP.
fn unmarked(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[15] &= 3;
    support::repair_ip_checksum(&mut frame);
    frame
}

#[test]
fn a_hosts_packet_that_only_begins_like_int_loses_its_mark_at_the_edge_and_nothing_else() {
    // int-2.1/l4-19
    for packet in packets() {
        let mut edge = Node::new(&node((true, false), Mode::Md, false)).unwrap();
        assert_eq!(through(&mut edge, &packet), Some(unmarked(&packet)));
        assert_eq!(edge.counters().get(Outcome::Remarked), 1);
        assert_eq!(edge.counters().get(Outcome::IntFromEdge), 0);
        assert_eq!(edge.counters().get(Outcome::NoInt), 1);
        // Between two edges it never is in the domain.
        let mut both = Node::new(&node((true, true), Mode::Md, false)).unwrap();
        assert_eq!(through(&mut both, &packet), Some(packet));
    }
}

#[test]
fn int_starts_in_a_watched_packet_that_only_begins_like_int() {
    for packet in packets() {
        let mut source = Node::new(&node((true, false), Mode::Md, true)).unwrap();
        let sent = through(&mut source, &packet).unwrap();
        assert_eq!(source.counters().get(Outcome::Started), 1);
        let mut sink = Node::new(&node((false, true), Mode::Md, true)).unwrap();
        assert_eq!(through(&mut sink, &sent), Some(packet));
    }
}

#[test]
fn int_as_a_source_writes_it_does_not_enter_by_an_edge() {
    // int-2.1/domain-07
    let destination = [0x20, 1, 0, 10 << 2, 1, 2, 3, 4].to_vec();
    for int in [int_md().hop(1).bytes(), int_mx().bytes(), destination] {
        let packet = marked(17, &udp(false, 7777, &[&int[..], b"payload"].concat()));
        let mut edge = Node::new(&node((true, false), Mode::Md, false)).unwrap();
        assert_eq!(through(&mut edge, &packet), None);
        assert_eq!(edge.counters().get(Outcome::IntFromEdge), 1);
    }
}

#[test]
fn reserved_bits_are_ignored_where_int_may_come_in() {
    // int-2.1/l4-31, int-2.1/l4-34
    let mut int = int_md().hop(1).bytes();
    (int[0], int[2], int[3], int[5]) = (int[0] | 3, 0xff, int[3] | 3, 0xff);
    let packet = marked(17, &udp(false, 7777, &[&int[..], b"payload"].concat()));
    for edge in [false, true] {
        let mut config = node((edge, false), Mode::Md, false);
        config.interfaces[0].accept_int = Some(true);
        let mut hop = Node::new(&config).unwrap();
        assert_eq!(through(&mut hop, &packet).unwrap().len(), packet.len() + int.len() - 16);
        assert_eq!(hop.counters().get(Outcome::Pushed), 1);
    }
}

#[test]
fn the_header_of_a_tunnel_with_a_copied_dscp_is_no_int() {
    // int-2.1/l4-03, int-2.1/l4-04
    for packet in tunnels() {
        for edges in [(false, false), (false, true), (true, false)] {
            let mut hop = Node::new(&node(edges, Mode::Md, false)).unwrap();
            let expected = if edges.0 { unmarked(&packet) } else { packet.clone() };
            assert_eq!(through(&mut hop, &packet), Some(expected), "{edges:?}");
            assert_eq!(hop.counters().get(Outcome::NoInt), 1);
        }
        // INT in front of the same header is INT.
        let mut source = Node::new(&node((true, false), Mode::Md, true)).unwrap();
        let sent = through(&mut source, &packet).unwrap();
        assert!(sent.len() > packet.len() && checksum_is_right(&sent) && ip_checksum_is_right(&sent));
        let mut sink = Node::new(&node((false, true), Mode::Md, true)).unwrap();
        assert_eq!(through(&mut sink, &sent), Some(packet));
        assert_eq!(reports(&mut sink).len(), 1);
    }
}

#[test]
fn xd_reports_marked_packets_and_leaves_them_as_they_are() {
    // int-2.1/modes-01, report-2.0/modes-01
    let no_int_at_all = marked(6, &tcp(false, &[], b"GET / HTTP/1.1\r\n"));
    let to_the_port = |payload: &[u8]| support::frame(false, 17, &udp(false, 33122, payload));
    let by_dscp = packets().into_iter().chain([no_int_at_all]).chain(tunnels());
    let by_port = payloads().map(|payload| to_the_port(&payload)).into_iter();
    let by_port =
        by_port.chain([to_the_port(b"hello world"), to_the_port(&b"$ echo a line to the log".repeat(8))]);
    let cases = by_dscp.map(|packet| (EncapsulationKind::Dscp, packet));
    let cases = cases.chain(by_port.map(|packet| (EncapsulationKind::UdpPort, packet)));
    for (kind, packet) in cases {
        for (edges, accept_int) in [
            ((true, false), None),
            ((true, false), Some(true)),
            ((false, false), None),
            ((false, true), None),
        ] {
            let mut config = node_config(7, edges, kind, Mode::Xd);
            config.interfaces[0].accept_int = accept_int;
            let mut hop = Node::new(&config).unwrap();
            assert_eq!(through(&mut hop, &packet).as_ref(), Some(&packet), "{kind:?} {edges:?}");
            assert_eq!(hop.counters().get(Outcome::NoInt), 1);
            with_report(&mut hop, |report| assert!(report.tracked_flow()));
        }
    }
}
