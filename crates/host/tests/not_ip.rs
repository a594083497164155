//! What is not IP passes every program unchanged, whatever packet came before it.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "support/programs.rs"]
mod programs;

use inband_host::{HostInt, Outcome, Program, Programs};
use inband_node::config::{EncapsulationConfig, EncapsulationKind, NodeConfig, WatchEntry};
use inband_testkit::hex::hex;

/// A datagram of 192.0.2.1 with 40 bytes of payload.
const DATAGRAM: &str = "
    020000000002 020000000001 0800
    45000044 00004000 40110000 c0000201 c0000202
    0bb8 0fa0 0030 0000
    00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000";
/// A request by ARP, alone and padded to the minimum of Ethernet.
const ARP: &str = "
    020000000002 020000000001 0806
    0001 0800 06 04 0001 020000000001 c0000201 000000000000 c0000202";
const PADDING: &str = "000000000000000000000000000000000000";
/// A message of LLDP, and a frame shorter than an IPv4 header, of a local protocol.
const LLDP: &str = "
    0180c200000e 020000000001 88cc
    0207 04 020000000001 0405 05 65746831 0602 0078 0000 000000000000000000000000000000000000000000000000";
const SHORT: &str = "020000000002 020000000001 88b5 4500 0014";

#[test]
fn frames_behind_a_watched_packet_are_counted_as_not_ip() {
    for kind in [EncapsulationKind::Dscp, EncapsulationKind::Udp, EncapsulationKind::UdpPort] {
        let Some(mut programs) = programs::load(&host(kind)) else { return };
        let with_int = programs.pass(Program::Source, &hex(DATAGRAM), 1).unwrap().frame;
        assert!(with_int.len() > hex(DATAGRAM).len());
        let mut expected = 0;
        for frame in [ARP.to_owned(), format!("{ARP}{PADDING}"), LLDP.to_owned(), SHORT.to_owned()] {
            for program in [Program::Steer, Program::Source] {
                programs.pass(Program::Source, &hex(DATAGRAM), 1).unwrap();
                assert_unchanged(&mut programs, program, &hex(&frame));
            }
            programs.pass(Program::Sink, &with_int, 1).unwrap();
            assert_unchanged(&mut programs, Program::Sink, &hex(&frame));
            expected += 3;
            assert_eq!(programs.count(Outcome::NotIp).unwrap(), expected, "{kind:?}: {frame}");
        }
        assert_eq!(programs.count(Outcome::Started).unwrap(), 9, "{kind:?}");
        assert_eq!(programs.count(Outcome::Stripped).unwrap(), 4, "{kind:?}");
    }
}

fn assert_unchanged(programs: &mut Programs, program: Program, frame: &[u8]) {
    assert_eq!(programs.pass(program, frame, 1).unwrap().frame, frame, "{program:?}");
}

/// A domain that watches everything.
fn host(kind: EncapsulationKind) -> HostInt {
    let mut node = NodeConfig::new(12);
    node.watchlist = vec![WatchEntry::default()];
    node.encapsulation = EncapsulationConfig { kind: Some(kind), ..EncapsulationConfig::default() };
    HostInt::of(node)
}
