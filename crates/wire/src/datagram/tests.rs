//! Report datagrams on the wire, over IPv4 and IPv6.

use core::net::SocketAddr;
use std::vec::Vec;

use inband_testkit::oracle;
use proptest::prelude::*;

use crate::layers::{Layers, Link, Strictness};
use crate::verify::{ChecksumState, l4_checksum};

use super::{Datagram, DatagramError, MAX_HEADER_BYTES};

fn datagram(source: &str, destination: &str) -> Datagram {
    let (source, destination): (SocketAddr, SocketAddr) =
        (source.parse().unwrap(), destination.parse().unwrap());
    Datagram {
        source_mac: [2, 0, 0, 0, 0, 1],
        destination_mac: [2, 0, 0, 0, 0, 2],
        source,
        destination,
        dscp: 0,
    }
}

fn v4() -> Datagram {
    datagram("192.0.2.1:40000", "192.0.2.2:32766")
}

fn v6() -> Datagram {
    datagram("[2001:db8::1]:40000", "[2001:db8::2]:9999")
}

fn written(datagram: &Datagram, payload: &[u8]) -> Vec<u8> {
    let mut out = [0xa5; 9000];
    let length = datagram.write(payload, &mut out).unwrap();
    assert!(out[length..].iter().all(|byte| *byte == 0xa5));
    out[..length].to_vec()
}

#[test]
fn a_report_is_the_payload_of_udp_to_the_configured_port() {
    // report-2.0/transport-01, report-2.0/transport-02: UDP over IP, to the configured port.
    // report-2.0/transport-03: the source port is the given one.
    for (datagram, headers) in [(v4(), 42), (v6(), 62)] {
        let frame = written(&datagram, b"report");
        assert_eq!(frame[headers..], *b"report");
        let layers = Layers::parse(Link::Ethernet, &frame, Strictness::Whole).unwrap().unwrap();
        let flow = layers.five_tuple(&frame);
        assert_eq!((flow.source, flow.destination), (datagram.source.ip(), datagram.destination.ip()));
        assert_eq!((flow.source_port, flow.destination_port), (40000, datagram.destination.port()));
        assert_eq!(l4_checksum(&frame, &layers), ChecksumState::Ok);
    }
}

#[test]
fn a_report_has_the_dscp_it_is_given() {
    for datagram in [v4(), v6()] {
        let frame = written(&Datagram { dscp: 46, ..datagram }, b"report");
        let layers = Layers::parse(Link::Ethernet, &frame, Strictness::Whole).unwrap().unwrap();
        assert_eq!((layers.dscp(&frame), l4_checksum(&frame, &layers)), (46, ChecksumState::Ok));
    }
    let frame = written(&Datagram { dscp: 46, ..v4() }, &[]);
    assert_eq!(oracle::ipv4_header_sum(&frame), Some(0xffff));
}

#[test]
fn a_report_over_ipv4_has_df_set() {
    // report-2.0/transport-04
    let frame = written(&v4(), &[]);
    assert_eq!(frame[14 + 6..14 + 8], [0x40, 0x00]);
    assert_eq!(oracle::ipv4_header_sum(&frame), Some(0xffff));
}

#[test]
fn the_longest_payload_fits_exactly_and_one_byte_more_does_not() {
    let mut out = std::vec![0xa5; 70_000];
    let payload = std::vec![0; 65_535];
    assert_eq!(v4().write(&payload[..65_507], &mut out), Ok(65_507 + 42));
    assert_eq!(v4().write(&payload[..65_508], &mut out), Err(DatagramError::TooLong));
    assert_eq!(v6().write(&payload[..65_527], &mut out), Ok(65_527 + MAX_HEADER_BYTES));
    assert_eq!(v6().write(&payload[..65_528], &mut out), Err(DatagramError::TooLong));
}

#[test]
fn a_buffer_one_byte_too_small_is_an_error() {
    let mut out = [0xa5; 46];
    assert_eq!(v4().write(b"four", &mut out), Ok(46));
    assert_eq!(v4().write(b"four", &mut out[..45]), Err(DatagramError::TooLong));
}

#[test]
fn addresses_of_different_versions_are_an_error() {
    let mixed = Datagram { destination: v6().destination, ..v4() };
    assert_eq!(mixed.write(&[], &mut [0; 100]), Err(DatagramError::MixedVersions));
}

#[test]
fn a_checksum_that_comes_out_zero_is_sent_as_all_ones() {
    for (datagram, at) in [(v4(), 34 + 6), (v6(), 54 + 6)] {
        let checksum_with =
            |word: [u8; 2]| <[u8; 2]>::try_from(&written(&datagram, &word)[at..at + 2]).unwrap();
        let complement = checksum_with([0, 0]);
        assert_eq!(checksum_with(complement), [0xff, 0xff]);
    }
}

proptest! {
    #[test]
    fn the_checksum_is_right_and_never_zero(payload in prop::collection::vec(any::<u8>(), 0..200)) {
        for datagram in [v4(), v6()] {
            prop_assert_eq!(oracle::l4_sum(&written(&datagram, &payload)), Some(0xffff));
        }
    }
}
