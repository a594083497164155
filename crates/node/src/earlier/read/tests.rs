//! Bytes that count as INT of a version before 2.0, and bytes that do not.
#![allow(clippy::unwrap_used, reason = "a header that cannot be found fails the test")]

use inband_testkit::{EarlierInt, host_int, int_0_5, int_1_0, packet};
use inband_wire::error::ParseError;
use inband_wire::int::locate::{self, HeaderType};
use inband_wire::int::{TcpOptions, Version};
use inband_wire::layers::{Layers, Link, Strictness};

use super::{before_tcp_options, check_header};

fn layers(frame: &[u8]) -> Layers {
    Layers::parse(Link::Ethernet, frame, Strictness::Whole).unwrap().unwrap()
}

/// The INT found behind TCP, and whether it counts.
fn checked(int: &EarlierInt) -> Result<(Version, HeaderType), ParseError> {
    let frame = packet().dscp(0x17).tcp(1, 80).payload(&[&int.bytes()[..], b"data"].concat()).build();
    let layers = layers(&frame);
    let location = locate::behind_dscp(&frame, &layers, TcpOptions::After)?;
    check_header(&frame, &layers, &location)?;
    Ok((location.version, location.header_type))
}

#[test]
fn whole_headers_count() {
    assert_eq!(checked(&int_1_0().hop(2).hop(1)), Ok((Version::V1_0, HeaderType::Md)));
    assert_eq!(checked(&int_0_5().hop(2).hop(1)), Ok((Version::V0_5, HeaderType::Md)));
    assert_eq!(checked(&host_int()), Ok((Version::HostInt0_5, HeaderType::Md)));
    assert_eq!(checked(&int_0_5().kind(2).hop(2)), Ok((Version::V0_5, HeaderType::Destination)));
}

#[test]
fn headers_that_contradict_themselves_do_not() {
    let cases = [
        int_1_0().hop(1).hop_words(1),
        int_1_0().hop(1).words(&[7]),
        int_1_0().bitmap(0),
        int_1_0().flags(0x20).hop(1),
        int_0_5().hop(1).hop_words(3),
        int_0_5().hop(1).total_hops(2),
        int_0_5().bitmap(0),
        int_0_5().hop(1).behind(&[17, 0, 22, 0]),
        int_0_5().hop(1).behind(&[]),
        int_0_5().hop(1).length(200),
        host_int().total_hops(2),
        host_int().kind(4),
    ];
    for int in cases {
        assert!(checked(&int).is_err(), "{int:?}");
    }
}

#[test]
fn reserved_bits_of_shim_and_header_may_be_anything() {
    // host-int-0.5/packet-12, int-1.0/md-07, int-0.5/md-09
    for (int, version) in [
        (int_1_0().hop(2).hop(1), Version::V1_0),
        (int_0_5().hop(2).hop(1), Version::V0_5),
        (host_int(), Version::HostInt0_5),
    ] {
        assert_eq!(checked(&int.clone().reserved()), Ok((version, HeaderType::Md)));
        // Reserved in 0.5 and Host-INT, and in 1.0 the DSCP before INT with two reserved bits.
        assert_eq!(checked(&int.last_of_shim(0xff)), Ok((version, HeaderType::Md)));
    }
}

#[test]
fn host_int_is_found_before_the_tcp_options_and_nothing_else_is() {
    let options = [1; 8];
    let find = |int: &[u8]| {
        let behind = [int, &options, b"data"].concat();
        let mut frame = packet().dscp(0x17).tcp(1, 80).payload(&behind).build();
        // The options of a header that is 8 bytes longer start where INT does.
        frame[14 + 20 + 12] = 0x70;
        before_tcp_options(&frame, &layers(&frame)).map(|location| (location.version, location.shim))
    };
    assert_eq!(find(&host_int().bytes()), Some((Version::HostInt0_5, 54)));
    assert_eq!(find(&host_int().total_hops(2).bytes()), None);
    assert_eq!(find(&int_0_5().hop(1).bytes()), None);
    // Window scale begins with 3 as well.
    assert_eq!(find(&[3, 3, 7, 0, 1, 1, 1, 1, 1, 1, 1, 1]), None);
}
