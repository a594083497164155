//! INT in copies of packets: the packets are unchanged, the copies end at the sink.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use inband_node::config::{EncapsulationKind, Mode, NodeConfig};
use inband_node::{Node, Outcome, Output, OwnPacket};
use inband_wire::Link;

use support::{checksum_is_right, md, node_config, path, reports, stack, tcp_frame, through};

fn config(edges: (bool, bool), clone: u32) -> NodeConfig {
    let mut config = node_config(1, edges, EncapsulationKind::Dscp, Mode::Md);
    config.source.clone = clone;
    config
}

/// The next clone, which leaves by the same interface as the packets.
fn next_clone(source: &mut Node) -> Option<Vec<u8>> {
    match source.poll_output()? {
        Output::Clone(OwnPacket { egress: 2, link: Link::Ethernet, bytes }) => Some(bytes),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_of_so_many_watched_packets_is_copied_and_the_packets_stay_as_they_are() {
    // int-2.1/modes-04, int-2.1/modes-07
    let mut source = Node::new(&config((true, false), 3)).unwrap();
    let original = tcp_frame(b"payload");
    let mut clones = 0;
    for _ in 0..7 {
        assert_eq!(through(&mut source, &original).unwrap(), original);
        while let Some(clone) = next_clone(&mut source) {
            clones += 1;
            assert!(md(&clone).0.discard());
            assert_eq!(stack(&clone), [0, 0, 0, 1, 3, 0, 1, 2]);
            assert!(checksum_is_right(&clone));
        }
    }
    assert_eq!(clones, 3, "packets 1, 4 and 7");
    assert_eq!(source.counters().get(Outcome::Cloned), 3);
    assert_eq!(source.counters().get(Outcome::NoInt), 7);
}

#[test]
fn a_copy_collects_metadata_on_its_way_and_ends_at_the_sink() {
    // int-2.1/modes-05, int-2.1/md-02
    let mut source = Node::new(&config((true, false), 1)).unwrap();
    through(&mut source, &tcp_frame(b"payload")).unwrap();
    let clone = next_clone(&mut source).unwrap();
    let mut nodes = path(3, EncapsulationKind::Dscp, Mode::Md);
    let clone = through(&mut nodes[1], &clone).unwrap();
    assert_eq!(stack(&clone).len(), 16);
    assert_eq!(through(&mut nodes[2], &clone), None);
    assert_eq!(reports(&mut nodes[2]).len(), 1);
}

#[test]
fn a_copy_that_ends_where_it_began_is_reported_and_goes_nowhere() {
    let mut node = Node::new(&config((true, true), 1)).unwrap();
    let original = tcp_frame(b"payload");
    assert_eq!(through(&mut node, &original).unwrap(), original);
    assert_eq!(reports(&mut node).len(), 1, "and nothing else");
    assert_eq!(node.counters().get(Outcome::Cloned), 1);
}

#[test]
fn copies_nobody_takes_are_shed_and_counted() {
    let mut source = Node::new(&config((true, false), 1)).unwrap();
    for _ in 0..300 {
        through(&mut source, &tcp_frame(b"")).unwrap();
    }
    let counters = source.counters();
    assert_eq!((counters.get(Outcome::Cloned), counters.get(Outcome::CloneShed)), (256, 44));
    assert_eq!(std::iter::from_fn(|| next_clone(&mut source)).count(), 256);
}

#[test]
fn a_packet_int_cannot_be_started_in_is_not_copied() {
    let mut config = config((true, false), 1);
    config.interfaces[1].mtu = 40;
    let mut source = Node::new(&config).unwrap();
    through(&mut source, &tcp_frame(b"payload")).unwrap();
    assert_eq!(source.poll_output(), None);
    assert_eq!(source.counters().get(Outcome::NotStartedMtu), 1);
}
