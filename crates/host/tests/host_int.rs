//! A sink removes what Host-INT's own programs insert. The packets are theirs, captured between two hosts.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "support/programs.rs"]
mod programs;

use inband_host::{HostInt, Outcome, Program};
use inband_node::config::{
    EncapsulationConfig, EncapsulationKind, IntVersion, InterfaceConfig, NodeConfig, SinkMetadata,
};
use inband_node::{DeviceMetadata, Node, Passage};
use inband_testkit::hex::hex;
use inband_testkit::path::send;
use inband_wire::layers::Layers;
use inband_wire::verify::{self, ChecksumState};
use inband_wire::{Link, Strictness};

/// A packet, the offset of INT in it, and its length.
struct Captured {
    frame: Vec<u8>,
    at: usize,
    bytes: usize,
}

macro_rules! captured {
    ($name:literal, $at:literal, $bytes:literal) => {
        Captured {
            frame: hex(include_str!(concat!("../../../testdata/captured/host-int-1.0.0-", $name, ".hex"))),
            at: $at,
            bytes: $bytes,
        }
    };
}

#[test]
fn what_their_source_put_behind_tcp_and_udp_is_taken_out() {
    // host-int-0.5/packet-08. Their kernel completes TCP's checksum 36 bytes too late, in the tail.
    check(EncapsulationKind::Dscp, &[captured!("dscp-udp", 42, 36), captured!("dscp-tcp", 54, 36)]);
}

#[test]
fn what_their_source_put_behind_a_new_udp_header_is_taken_out() {
    // host-int-0.5/packet-03, host-int-0.5/packet-04
    check(EncapsulationKind::Udp, &[captured!("udp-udp", 34, 44), captured!("udp-tcp", 34, 44)]);
}

/// Each packet leaves the kernel as it leaves the engine: without INT, and with correct checksums.
fn check(kind: EncapsulationKind, packets: &[Captured]) {
    let config = config(kind);
    let mut programs = programs::load(&HostInt::of(config.clone()));
    let passage = Passage { ingress: 1, egress: 2, metadata: DeviceMetadata::default() };
    for Captured { frame, at, bytes } in packets {
        let mut node = Node::new(&config).unwrap();
        let left = send(&mut node, frame, &passage).unwrap();

        assert_eq!(left.len(), frame.len() - bytes);
        assert_eq!(left[*at..], frame[at + bytes..], "what was sent is untouched");
        let layers = Layers::parse(Link::Ethernet, &left, Strictness::Whole).unwrap().unwrap();
        assert_eq!(verify::l4_checksum(&left, &layers), ChecksumState::Ok);
        if let Some(programs) = &mut programs {
            let before = programs.count(Outcome::Stripped).unwrap();
            assert_eq!(programs.pass(Program::Sink, frame, 1).unwrap().frame, left);
            assert_eq!(programs.count(Outcome::Stripped).unwrap(), before + 1);
        }
    }
}

/// A sink in a domain of Host-INT with its defaults.
fn config(kind: EncapsulationKind) -> NodeConfig {
    let mut config = NodeConfig::new(12);
    config.node.int_version = Some(IntVersion::Host0_5);
    config.encapsulation = EncapsulationConfig {
        kind: Some(kind),
        dscp: Some(1),
        dscp_mask: Some(1),
        ..EncapsulationConfig::default()
    };
    config.interfaces =
        vec![InterfaceConfig::new(1), InterfaceConfig { edge: true, ..InterfaceConfig::new(2) }];
    config.sink.own_metadata = SinkMetadata::None;
    config
}
