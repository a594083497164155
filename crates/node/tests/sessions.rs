//! Report sessions: distribution, sequence numbers, lengths, rates and source ports.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::collections::BTreeMap;

use inband_node::config::{EncapsulationKind, Mode, NodeConfig, ReportConfig};
use inband_node::{Frame, Node, Outcome, Output};
use inband_testkit::packet;
use inband_wire::layers::Link;
use inband_wire::report::ReportGroup;

use support::{node_config, passage};

const SECOND: u64 = 1_000_000_000;

fn config(report: &str) -> NodeConfig {
    let mut config = node_config(9, (false, false), EncapsulationKind::Dscp, Mode::Xd);
    config.report = toml::from_str(report).unwrap();
    config
}

fn node(report: &str) -> Node {
    Node::new(&config(report)).unwrap()
}

/// One datagram as a session sends it.
#[derive(Debug)]
struct Sent {
    session: usize,
    flow_hash: u32,
    sequence: u32,
    hw_id: u8,
    /// Bytes of the packet in each report.
    fragments: Vec<usize>,
}

fn send(node: &mut Node, port: u16, at: u64) -> Vec<Sent> {
    let mut buffer = vec![0xa5; 1100];
    buffer.extend(packet().tcp(port, 80).payload(&[0; 200]).build());
    let end = buffer.len();
    let mut passage = passage();
    passage.metadata.egress_timestamp = Some(at);
    let mut frame = Frame::new(&mut buffer, 1100..end).unwrap();
    let _ = node.handle_frame(Link::Ethernet, &mut frame, &passage);
    sent(node)
}

fn sent(node: &mut Node) -> Vec<Sent> {
    let mut all = Vec::new();
    while let Some(datagram) = node.poll_output().and_then(Output::into_report) {
        let group = ReportGroup::parse(datagram.payload).unwrap();
        all.push(Sent {
            session: datagram.session,
            flow_hash: datagram.flow_hash,
            sequence: group.header.sequence(),
            hw_id: group.header.hw_id(),
            fragments: group.reports().map(|report| report.unwrap().packet().unwrap().1.len()).collect(),
        });
    }
    all
}

const TWO: &str = r#"
truncate = 128
session = [
    { collector = "192.0.2.1:32766" },
    { collector = "192.0.2.2:32766", truncate = 64, hw_id = 5, group = 2 },
]
"#;

#[test]
fn without_sessions_the_report_section_is_the_only_one() {
    let report: ReportConfig = toml::from_str("hw_id = 3").unwrap();
    let sessions = report.sessions();
    assert_eq!((sessions.len(), sessions[0].hw_id), (1, 3));
    assert_eq!(send(&mut node("hw_id = 3"), 1, 0).len(), 1);
}

#[test]
fn every_session_gets_every_report_in_its_own_way() {
    let mut node = node(TWO);
    let first = send(&mut node, 1, 0);
    assert_eq!(first.len(), 1, "the second session waits for another report");
    let second = send(&mut node, 2, 0);
    let of = |session: usize| {
        let of_session = first.iter().chain(&second).filter(move |sent| sent.session == session);
        of_session.map(|sent| (sent.sequence, sent.hw_id, sent.fragments.clone())).collect::<Vec<_>>()
    };
    assert_eq!(of(0), [(1, 0, vec![128]), (2, 0, vec![128])]);
    assert_eq!(of(1), [(1, 5, vec![64, 64])]);
    assert_eq!(node.counters().get(Outcome::Reported), 4);
}

#[test]
fn by_hash_each_flow_has_one_session_and_both_have_flows() {
    let mut node = node(&format!("distribute = \"flow-hash\"\n{}", TWO.replace(", group = 2", "")));
    let mut sessions = BTreeMap::new();
    for round in 0..3 {
        for port in 1..100 {
            let datagrams = send(&mut node, port, 0);
            assert_eq!(datagrams.len(), 1);
            let session = sessions.entry(port).or_insert(datagrams[0].session);
            assert_eq!(*session, datagrams[0].session, "port {port}, round {round}");
        }
    }
    let first = sessions.values().filter(|session| **session == 0).count();
    assert!((20..80).contains(&first), "{first} of 99 flows");
}

#[test]
fn a_session_counts_what_is_over_its_rate() {
    let mut node = node(
        r#"session = [
            { collector = "192.0.2.1:32766", reports_per_second = 3 },
            { collector = "192.0.2.2:32766" },
        ]"#,
    );
    let mut counts = [0, 0];
    for _ in 0..10 {
        for sent in send(&mut node, 1, SECOND) {
            counts[sent.session] += 1;
        }
    }
    assert_eq!(counts, [3, 10]);
    assert_eq!(node.counters().get(Outcome::ReportLimited), 7);
    assert_eq!(send(&mut node, 1, 2 * SECOND).len(), 2, "a second later");
}

#[test]
fn numbers_have_no_gaps_where_reports_are_limited() {
    let mut node = node("reports_per_second = 1");
    let sequences: Vec<_> =
        (0..30).flat_map(|tenth| send(&mut node, 1, tenth * SECOND / 10)).map(|sent| sent.sequence).collect();
    assert_eq!(sequences, [1, 2, 3]);
}

#[test]
fn the_source_port_is_configured_or_a_hash_of_the_flow() {
    // report-2.0/transport-03: flows differ in the source port of their reports, reports of one flow do not.
    let report: ReportConfig = toml::from_str("source_port = 6000").unwrap();
    assert_eq!(report.port(0x1234_5678), 6000);
    let report: ReportConfig = toml::from_str("port_entropy = true").unwrap();
    let ports: Vec<_> = [0, 0x3fff, 0x4000, u32::MAX].map(|hash| report.port(hash)).into();
    assert_eq!(ports, [49152, 65535, 49152, 65535]);

    let mut node = node("port_entropy = true");
    let hashes = |node: &mut Node| -> Vec<u32> {
        (1..50).flat_map(|port| send(node, port, 0)).map(|sent| sent.flow_hash).collect()
    };
    let first = hashes(&mut node);
    assert_eq!(first, hashes(&mut node), "the same flow, the same port");
    let different: std::collections::BTreeSet<_> = first.iter().collect();
    assert_eq!(different.len(), 49);
}

#[test]
fn what_goes_to_any_collector_is_not_watched() {
    let mut node = node(TWO);
    for last in [1, 2] {
        let mut buffer = vec![0xa5; 1100];
        buffer.extend(packet().addresses(&[10, 0, 0, 1], &[192, 0, 2, last]).udp(0, 32766).build());
        let end = buffer.len();
        let mut frame = Frame::new(&mut buffer, 1100..end).unwrap();
        let _ = node.handle_frame(Link::Ethernet, &mut frame, &passage());
    }
    node.flush_reports();
    assert!(sent(&mut node).is_empty());
}

#[test]
fn sessions_that_cannot_work_are_refused_by_their_key() {
    let session = |keys: &str| format!("session = [{{ collector = \"192.0.2.1:1\", {keys} }}]");
    for (report, key) in [
        ("dscp = 64".to_owned(), "report.dscp"),
        (session("dscp = 64"), "report.dscp"),
        (session("hw_id = 64"), "report.hw_id"),
        (session("truncate = 9217"), "report.truncate"),
        (session("port_entropy = true, group = 2"), "report.port_entropy"),
        (session("source_address = \"2001:db8::1\""), "report.source_address"),
        (
            "session = [{ collector = \"192.0.2.1:1\" }, { collector = \"192.0.2.1:1\" }]".to_owned(),
            "report.session",
        ),
    ] {
        assert_eq!(Node::new(&config(&report)).unwrap_err().key(), key, "{report}");
    }
    assert!(toml::from_str::<ReportConfig>("session = [{ truncate = 1 }]").is_err(), "no collector");
    let told_apart =
        "session = [{ collector = \"192.0.2.1:1\" }, { collector = \"192.0.2.1:1\", hw_id = 1 }]";
    assert!(Node::new(&config(told_apart)).is_ok());
}
