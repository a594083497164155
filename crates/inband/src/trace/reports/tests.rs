use inband_testkit::{int_report, report_group};

use super::read;
use crate::trace::probe::Prober;
use crate::trace::tuple;

/// The offset of the version and flags of INT behind IPv4 and UDP.
const FLAGS_AT: usize = 20 + 8 + 4;
const DISCARD: u8 = 0x08;

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

/// A sink's report about a packet behind an Ethernet header.
fn report(packet: &[u8]) -> Vec<u8> {
    let mut inner = [&[2; 12][..], &[8, 0], packet].concat();
    inner.resize(inner.len().next_multiple_of(4), 0);
    report_group(3).with(int_report(0).inner(3, &inner)).build()
}
