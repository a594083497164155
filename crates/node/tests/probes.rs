//! Probe packets that a source makes itself.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, Instruction, Mode, NodeConfig, ProbeConfig};
use inband_node::{Node, Outcome, Output, OwnPacket};
use inband_testkit::oracle;
use inband_wire::dissect;
use inband_wire::int::{HeaderType, Md, Mx};
use inband_wire::layers::{Link, Strictness};

use support::{code_points, next_packet, node_config, reports, through};

const SECOND: u64 = 1_000_000_000;
const START: u64 = 1_700_000_000 * SECOND;

fn probe(keys: &str) -> ProbeConfig {
    let addresses = if keys.contains("source =") {
        ""
    } else {
        "source = \"192.0.2.1\"\ndestination = \"198.51.100.7\"\n"
    };
    toml::from_str(&format!("{addresses}egress = 2\n{keys}")).unwrap()
}

fn config(kind: EncapsulationKind, mode: Mode, keys: &str) -> NodeConfig {
    let mut config = node_config(1, (true, false), kind, mode);
    config.probes = vec![probe(keys)];
    config
}

fn probes(node: &mut Node) -> Vec<OwnPacket> {
    std::iter::from_fn(|| next_packet(node)).collect()
}

const KINDS: [EncapsulationKind; 5] = [
    EncapsulationKind::Dscp,
    EncapsulationKind::UdpPort,
    EncapsulationKind::ProbeMarker,
    EncapsulationKind::Udp,
    EncapsulationKind::Gre,
];
const V6: &str = "source = \"2001:db8::1\"\ndestination = \"2001:db8::2\"\n";

#[test]
fn a_probe_collects_metadata_on_its_way_and_ends_at_the_sink() {
    // int-2.1/modes-04, int-2.1/modes-05, int-2.1/modes-06, int-2.1/modes-07, int-2.1/md-02, int-2.1/mx-02
    for kind in KINDS {
        for mode in [Mode::Md, Mode::Mx] {
            for keys in ["payload = 5", V6] {
                let mut nodes = support::path(3, kind, mode);
                nodes[0] = Node::new(&config(kind, mode, keys)).unwrap();
                nodes[0].handle_timeout(START);
                let made = probes(&mut nodes[0]).remove(0);
                assert_eq!((made.egress, made.link), (2, Link::Ethernet));
                let sent = through(&mut nodes[1], &made.bytes).unwrap();
                for frame in [&made.bytes, &sent] {
                    let found = dissect(Link::Ethernet, frame, &code_points(kind), Strictness::Whole);
                    assert_eq!(found.error, None);
                    let (_, location) = found.int().next().unwrap();
                    let discard = match location.header_type {
                        HeaderType::Md => Md::parse(frame, location, &[]).unwrap().header.discard(),
                        _ => Mx::parse(frame, location).unwrap().header.discard(),
                    };
                    assert!(discard, "{kind:?} {mode:?}");
                    assert!(oracle::l4_sum(frame).is_none_or(|sum| sum == 0xffff), "{kind:?} {mode:?}");
                    assert!(oracle::ipv4_header_sum(frame).is_none_or(|sum| sum == 0xffff));
                }
                assert_eq!(through(&mut nodes[2], &sent), None, "{kind:?} {mode:?}");
                assert_eq!(reports(&mut nodes[2]).len(), 1);
                assert_eq!(nodes[2].counters().get(Outcome::Discarded), 1);
            }
        }
    }
}

#[test]
fn a_probe_without_d_leaves_the_domain_as_a_packet_without_int() {
    // int-2.1/modes-07
    let mut nodes = support::path(2, EncapsulationKind::Dscp, Mode::Md);
    nodes[0] = Node::new(&config(EncapsulationKind::Dscp, Mode::Md, "discard = false\npayload = 3")).unwrap();
    nodes[0].handle_timeout(START);
    let made = probes(&mut nodes[0]).remove(0);
    let left = through(&mut nodes[1], &made.bytes).unwrap();
    let expected = inband_testkit::packet()
        .addresses(&[192, 0, 2, 1], &[198, 51, 100, 7])
        .udp(49152, 9)
        .payload(&[0; 3])
        .build();
    assert_eq!(left[14 + 20..], expected[14 + 20..], "UDP and payload");
    assert_eq!(left[..12], [2, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 1]);
}

#[test]
fn probes_are_made_at_their_interval_by_the_clock_they_are_told() {
    let mut node = Node::new(&config(EncapsulationKind::Dscp, Mode::Md, "interval_ms = 250")).unwrap();
    assert_eq!(node.next_probe_at(), None);
    let mut made = Vec::new();
    for tenth in 0..10 {
        let now = START + tenth * SECOND / 10;
        node.handle_timeout(now);
        made.extend(probes(&mut node).iter().map(|_| tenth));
    }
    assert_eq!(made, [0, 3, 5, 8], "at 0, 250, 500 and 750 ms");
    assert_eq!(node.next_probe_at(), Some(START + SECOND));
    assert_eq!(node.counters().get(Outcome::ProbeMade), 4);
}

#[test]
fn what_was_missed_is_not_made_up() {
    let mut node = Node::new(&config(EncapsulationKind::Dscp, Mode::Md, "interval_ms = 1")).unwrap();
    node.handle_timeout(START);
    node.handle_timeout(START + 3600 * SECOND);
    assert_eq!(probes(&mut node).len(), 2);
    assert_eq!(node.next_probe_at(), Some(START + 3600 * SECOND + 1_000_000));
    node.handle_timeout(u64::MAX);
    assert_eq!(probes(&mut node).len(), 1);
}

#[test]
fn a_probe_says_when_it_was_made_and_no_more() {
    let mut config = config(EncapsulationKind::Dscp, Mode::Md, "");
    config.source.instructions =
        Instruction::OF_2_1.into_iter().filter(|asked| *asked != Instruction::ChecksumComplement).collect();
    let mut node = Node::new(&config).unwrap();
    node.handle_timeout(START);
    let made = probes(&mut node).remove(0).bytes;
    let stack = support::stack(&made);
    let mut expected = vec![0, 0, 0, 1, 0xff, 0xff, 0, 2];
    expected.extend([0xff; 8]);
    expected.extend(START.to_be_bytes());
    expected.extend([0xff; 24]);
    assert_eq!(stack, expected);
}

#[test]
fn probes_nobody_takes_are_shed_and_counted() {
    let mut node = Node::new(&config(EncapsulationKind::Dscp, Mode::Md, "interval_ms = 1")).unwrap();
    for ms in 0..300 {
        node.handle_timeout(START + ms * 1_000_000);
    }
    let counters = node.counters();
    assert_eq!((counters.get(Outcome::ProbeMade), counters.get(Outcome::ProbeShed)), (256, 44));
}

#[test]
fn a_probe_that_ends_where_it_began_is_reported_and_goes_nowhere() {
    let mut config = config(EncapsulationKind::Dscp, Mode::Md, "");
    config.interfaces[1].edge = true;
    let mut node = Node::new(&config).unwrap();
    node.handle_timeout(START);
    assert_eq!(reports(&mut node).len(), 1, "and nothing else");
}

#[test]
fn reports_are_polled_before_packets_and_each_once() {
    let mut node = Node::new(&config(EncapsulationKind::Dscp, Mode::Mx, "")).unwrap();
    node.handle_timeout(START);
    node.handle_timeout(START + 10 * SECOND);

    let kinds: Vec<_> = std::iter::from_fn(|| {
        node.poll_output().map(|output| match output {
            Output::Report(_) => "report",
            Output::Probe(OwnPacket { egress: 2, link: Link::Ethernet, .. }) => "probe",
            other => panic!("{other:?}"),
        })
    })
    .collect();

    assert_eq!(kinds, ["report", "report", "probe", "probe"]);
    assert_eq!(node.poll_output(), None);
}

#[test]
fn a_probe_larger_than_the_mtu_is_not_made() {
    // int-2.1/mtu-07
    let mut config = config(EncapsulationKind::Dscp, Mode::Md, "payload = 1472");
    config.interfaces[1].mtu = 1500;
    let mut node = Node::new(&config).unwrap();
    node.handle_timeout(START);
    assert_eq!(probes(&mut node), []);
    assert_eq!(node.counters().get(Outcome::NotStartedMtu), 1);
}

#[test]
fn probes_that_cannot_be_made_are_refused_by_the_key_that_is_wrong() {
    let refused = |config: &NodeConfig| Node::new(config).unwrap_err().key().to_owned();
    let with = |keys: &str| config(EncapsulationKind::Dscp, Mode::Md, keys);
    assert_eq!(refused(&with("source = \"10.0.0.1\"\ndestination = \"::1\"")), "probe.destination");
    assert_eq!(refused(&with("interval_ms = 0")), "probe.interval_ms");
    assert_eq!(refused(&with("payload = 9001")), "probe.payload");
    let mut unknown = with("");
    unknown.probes[0].egress = 9;
    assert_eq!(refused(&unknown), "probe.egress");
    assert_eq!(refused(&config(EncapsulationKind::Dscp, Mode::Xd, "")), "source.mode");
    for kind in [EncapsulationKind::VxlanGpe, EncapsulationKind::Geneve] {
        assert_eq!(refused(&config(kind, Mode::Md, "")), "encapsulation.kind");
    }
    for mac in ["02:00:00:00:00", "02:00:00:00:00:00:00", "0x:00:00:00:00:01", "+1:00:00:00:00:01", ""] {
        let text =
            format!("source = \"10.0.0.1\"\ndestination = \"10.0.0.2\"\negress = 2\nsource_mac = \"{mac}\"");
        assert!(toml::from_str::<ProbeConfig>(&text).is_err(), "{mac}");
    }
}
