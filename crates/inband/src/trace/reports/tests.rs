use inband_testkit::{int_report, report_group};

use super::read;
use crate::trace::probe::Prober;
use crate::trace::stack::Ended;
use crate::trace::tuple;

/// The offset of the version and flags of INT behind IPv4 and UDP.
const FLAGS_AT: usize = 20 + 8 + 4;
const DISCARD: u8 = 0x08;
/// RepMdBits: level 1 interfaces, and queue and drop reason.
const INTERFACES_AND_DROP: u16 = 0x4001;
const DROPPED: u8 = 0x80;

#[test]
fn only_the_report_about_the_probe_itself_is_taken() {
    let flow = tuple::parse("udp 10.0.1.1:40000 > 10.0.2.1:80").unwrap();
    let probe = Prober::new(None, 5).unwrap().packet(flow, 64, 7).unwrap();
    let mut live = probe.clone();
    live[FLAGS_AT] &= !DISCARD;

    for packet in [&probe[..], &probe[..probe.len() - 4]] {
        assert!(read(&report(packet), (flow, 7), None).is_some());
        assert!(read(&report(packet), (flow, 8), None).is_none(), "another probe");
    }
    assert!(read(&report(&live), (flow, 7), None).is_none(), "a packet of the flow");
}

#[test]
fn a_packet_that_was_dropped_before_an_egress_was_chosen_has_none() {
    let flow = tuple::parse("udp 10.0.1.1:40000 > 10.0.2.1:80").unwrap();
    let probe = Prober::new(None, 5).unwrap().packet(flow, 64, 7).unwrap();
    let dropped = int_report(INTERFACES_AND_DROP).flags(DROPPED).words(&[1 << 16, 29 << 16]);

    let datagram = report_group(3).with(dropped.inner(3, &framed(&probe))).build();
    let seen = read(&datagram, (flow, 7), None).unwrap();

    assert_eq!(seen.ended, Ended::Lost);
    let hop = &seen.hops[0];
    assert_eq!((hop.node_id, hop.ingress_interface, hop.egress_interface), (3, Some(1), None));
}

/// A sink's report about a packet.
fn report(packet: &[u8]) -> Vec<u8> {
    report_group(3).with(int_report(0).inner(3, &framed(packet))).build()
}

/// A packet behind an Ethernet header.
fn framed(packet: &[u8]) -> Vec<u8> {
    let mut inner = [&[2; 12][..], &[8, 0], packet].concat();
    inner.resize(inner.len().next_multiple_of(4), 0);
    inner
}
