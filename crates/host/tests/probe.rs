//! A sink recognises the probes of other agents.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "support/programs.rs"]
mod programs;

use inband_host::{HostInt, Outcome, Program};
use inband_node::config::{EncapsulationConfig, EncapsulationKind, NodeConfig};
use inband_testkit::{int_md, packet};

/// A TCP header of 20 bytes without its checksum.
const TCP: [u8; 20] = [0x9c, 0x40, 0, 80, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0, 0, 0, 0, 0, 0];
/// Instructions with seven words of metadata.
const SEVEN_WORDS: u16 = 0xf900;
/// `NPT_L4_HEADER` in the first byte of a shim.
const NEW_UDP: u8 = 2 << 2;

#[test]
fn a_probe_in_a_new_udp_header_is_found_behind_every_stack() {
    let mut node = NodeConfig::new(12);
    node.encapsulation =
        EncapsulationConfig { kind: Some(EncapsulationKind::Udp), ..EncapsulationConfig::default() };
    let port = node.encapsulation.udp_port();
    let Some(mut programs) = programs::load(&HostInt::of(node)) else { return };

    for hops in 0..20 {
        let int = int_md().flags(8).bitmap(SEVEN_WORDS).words(&vec![u32::MAX; 7 * hops]);
        let mut int = int.bytes();
        int[0] |= NEW_UDP;
        int[3] = 6;
        let payload = [int, TCP.to_vec(), b"INBL".to_vec(), vec![0; 116]].concat();
        let frame = packet().ipv6().udp(49152, port).payload(&payload).build();
        let before = programs.count(Outcome::Probe).unwrap();

        programs.pass(Program::Sink, &frame, 1).unwrap();

        assert_eq!(programs.count(Outcome::Probe).unwrap(), before + 1, "{hops} hops");
    }
}
