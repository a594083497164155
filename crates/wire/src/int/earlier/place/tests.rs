//! The marks of versions before 2.0, and the maximum length of their INT.

use std::vec::Vec;

use inband_testkit::{EarlierInt, Packet, host_int, int_0_5, int_1_0, int_in_tunnel, packet};

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::code_points::{CodePoints, TcpOptions};
use crate::int::dialect::Deviations;
use crate::int::dscp_mark::DscpMark;
use crate::int::locate::{find, following};
use crate::int::location::{Encapsulation, HeaderType, Location};
use crate::int::version::Version;
use crate::layers::{Layers, Link, Strictness};

type Found = Result<Option<Location>, ParseError>;

fn found_with(frame: &[u8], code_points: &CodePoints<'_>) -> Found {
    let layers = Layers::parse(Link::Ethernet, frame, Strictness::Whole).unwrap().unwrap();
    find(frame, &layers, code_points)
}

fn found(frame: &[u8]) -> Found {
    found_with(frame, &CodePoints::DEFAULT)
}

fn behind(carrier: Packet, parts: &[&[u8]]) -> Vec<u8> {
    carrier.payload(&parts.concat()).build()
}

fn marked(int: &EarlierInt) -> Vec<u8> {
    behind(packet().udp(9, 5).dscp(0x17), &[&int.bytes(), b"data"])
}

fn at(encapsulation: Encapsulation, version: Version, shim: usize, end: usize) -> Found {
    let header_type = HeaderType::Md;
    Ok(Some(Location {
        encapsulation,
        header_type,
        version,
        deviations: Deviations::NONE,
        shim,
        header: shim + 4,
        end,
    }))
}

fn fault(at: usize, header: Header, kind: ErrorKind) -> Found {
    Err(ParseError::new(at, header, kind))
}

#[test]
fn dscp_marks_every_version_that_exists_behind_tcp_and_udp() {
    assert_eq!(found(&marked(&int_1_0().hop(1))), at(Encapsulation::Dscp, Version::V1_0, 42, 62));
    assert_eq!(found(&marked(&int_0_5().hop(1))), at(Encapsulation::Dscp, Version::V0_5, 42, 66));
    assert_eq!(found(&marked(&host_int())), at(Encapsulation::Dscp, Version::HostInt0_5, 42, 78));
    let options = packet().tcp(1, 2).options(&[1; 12]).dscp(0x17);
    let frame = behind(options, &[&int_1_0().bytes()]);
    assert_eq!(found(&frame), at(Encapsulation::Dscp, Version::V1_0, 66, 78));
}

#[test]
fn types_without_a_meaning_are_errors() {
    for kind in (0..=15).chain([0x40, 0xf1]) {
        let frame = marked(&int_0_5().kind(kind).hop(1));
        let expected = matches!(kind, 1..=3);
        assert_eq!(found(&frame).is_ok(), expected, "type {kind}");
    }
    let undefined = ErrorKind::Undefined { field: "Type", found: 0 };
    assert_eq!(found(&marked(&int_0_5().kind(4))), fault(42, Header::Shim, undefined));
}

#[test]
fn length_is_at_least_what_the_version_has_and_at_most_the_payload() {
    let small = |int: EarlierInt, least| {
        let found_words = least - 1;
        let int = int.length(u8::try_from(found_words).unwrap());
        let kind = ErrorKind::TooSmall { field: "Length", found: found_words, least };
        assert_eq!(found(&marked(&int)), fault(42, Header::Shim, kind));
    };
    small(int_1_0(), 3);
    small(int_0_5(), 4);
    small(host_int(), 4);
    // 12 bytes of INT, 4 of data.
    assert!(found(&marked(&int_1_0().length(4))).is_ok());
    let large = ErrorKind::TooLarge { field: "Length", found: 5, most: 4 };
    assert_eq!(found(&marked(&int_1_0().length(5))), fault(42, Header::Shim, large));
}

#[test]
fn a_destination_header_may_be_empty_or_hold_anything() {
    for contents in [&[][..], &[0xff; 12]] {
        let length = u8::try_from(1 + contents.len() / 4).unwrap();
        let frame = behind(packet().tcp(1, 2).dscp(0x17), &[&[2, 0, length, 0], contents]);
        let location = found(&frame).unwrap().unwrap();
        assert_eq!((location.header_type, location.end), (HeaderType::Destination, 58 + contents.len()));
    }
}

#[test]
fn int_0_5_may_reach_past_a_udp_length_that_nobody_corrected() {
    // int-0.5/l4-05
    let uncorrected = packet().udp(9, 5).dscp(0x17).udp_length(8 + 4);
    let frame = behind(uncorrected.clone(), &[&int_0_5().hop(1).bytes(), b"data"]);
    assert_eq!(found(&frame), at(Encapsulation::Dscp, Version::V0_5, 42, 66));
    let empty = behind(packet().udp(9, 5).dscp(0x17).udp_length(8), &[&int_0_5().bytes()]);
    assert_eq!(found(&empty), at(Encapsulation::Dscp, Version::V0_5, 42, 58));
    let large = ErrorKind::TooLarge { field: "Length", found: 5, most: 1 };
    let frame = behind(uncorrected, &[&int_1_0().hop(1).bytes(), b"data"]);
    assert_eq!(found(&frame), fault(42, Header::Shim, large), "1.0 corrects it");
}

#[test]
fn the_udp_port_marks_0_5_and_host_int() {
    let to_port = |int: &EarlierInt| behind(packet().udp(9, 33122), &[&int.bytes(), &[0; 20]]);
    assert_eq!(found(&to_port(&int_0_5().hop(1))), at(Encapsulation::UdpPort, Version::V0_5, 42, 66));
    let new_header = host_int().behind(&[0, 0, 0, 1, 17, 0, 0, 0]);
    assert_eq!(found(&to_port(&new_header)), at(Encapsulation::Udp, Version::HostInt0_5, 42, 78));
    let version = ErrorKind::Version { found: 1, expected: 0 };
    assert_eq!(found(&to_port(&int_1_0().hop(1))), fault(46, Header::IntMetadata, version));
}

#[test]
fn a_tcp_port_marks_0_5_that_is_there_to_the_letter() {
    let to_port = |int: &EarlierInt| behind(packet().tcp(9, 33122), &[&int.bytes(), b"data"]);
    assert_eq!(found(&to_port(&int_0_5().hop(1))), at(Encapsulation::UdpPort, Version::V0_5, 54, 78));
    for other in [
        int_0_5().hop(1).behind(&[17, 0, 22, 0]),
        int_0_5().hop(1).total_hops(2),
        int_0_5().hop(1).length(7),
        int_1_0().hop(1),
        host_int(),
    ] {
        assert_eq!(found(&to_port(&other)), Ok(None), "{other:?}");
    }
    let elsewhere = behind(packet().tcp(9, 33121), &[&int_0_5().hop(1).bytes()]);
    assert_eq!(found(&elsewhere), Ok(None));
}

#[test]
fn a_probe_marker_marks_1_0_only() {
    // int-1.0/l4-02
    let marker = 0xaaaa_aaaa_bbbb_bbbb_u64.to_be_bytes();
    let probe = |int: &EarlierInt| behind(packet().udp(9, 5), &[&marker, &int.bytes(), b"data"]);
    let expected = at(Encapsulation::ProbeMarker, Version::V1_0, 50, 70);
    assert_eq!(found(&probe(&int_1_0().hop(1))), expected);
    for other in [int_0_5().hop(1), host_int(), int_1_0().hop_words(3), int_1_0().kind(4)] {
        assert_eq!(found(&probe(&other)), Ok(None), "{other:?}");
    }
}

#[test]
fn host_int_stands_before_the_tcp_options() {
    let options = packet().tcp(1, 2).options(&[1; 12]);
    for dscp in [0x01, 0x17, 0x3f] {
        // The segment as a source sends it: the options follow INT, and Data Offset still counts them.
        let mut frame = behind(options.clone().dscp(dscp), &[&[0xa5; 30]]);
        let int = host_int().bytes();
        frame.splice(54..54, int.iter().copied());
        let total = u16::from_be_bytes([frame[16], frame[17]]) + 36;
        frame[16..18].copy_from_slice(&total.to_be_bytes());
        assert_eq!(found(&frame), at(Encapsulation::Dscp, Version::HostInt0_5, 54, 90), "{dscp:#04x}");
    }
}

#[test]
fn the_dscp_bit_of_host_int_marks_nothing_else() {
    let weak = packet().udp(9, 5).dscp(0x01);
    let int = host_int().bytes();
    assert!(found(&behind(weak.clone(), &[&int])).unwrap().is_some());
    assert_eq!(found(&behind(weak.clone().dscp(0x02), &[&int])), Ok(None));
    assert_eq!(found(&behind(weak.clone(), &[&int[..35]])), Ok(None), "the tail is cut");
    for other in [int_0_5().hop(1), int_1_0().hop(1), host_int().total_hops(2)] {
        assert_eq!(found(&behind(weak.clone(), &[&other.bytes(), &[0; 40]])), Ok(None), "{other:?}");
    }
    let off = CodePoints { host_int_dscp: &[], ..CodePoints::DEFAULT };
    assert_eq!(found_with(&behind(weak.clone(), &[&int]), &off), Ok(None));
    // With this bit configured as the mark of INT, everything after it claims to be INT.
    let told = CodePoints { dscp: &[DscpMark { value: 1, mask: 1 }], ..CodePoints::DEFAULT };
    assert!(found_with(&behind(weak, &[&[0xa5; 40]]), &told).is_err());
}

#[test]
fn tcp_options_before_int_do_not_hide_other_versions() {
    // int-0.5/l4-04
    let code_points = CodePoints { tcp_options: TcpOptions::Before, ..CodePoints::DEFAULT };
    let frame = behind(packet().tcp(1, 2).dscp(0x17), &[&int_0_5().hop(1).bytes()]);
    assert_eq!(found_with(&frame, &code_points), at(Encapsulation::Dscp, Version::V0_5, 54, 78));
}

/// A VXLAN-GPE packet with this Next Protocol.
fn vxlan_gpe(next_protocol: u8, contents: &[u8]) -> Vec<u8> {
    let vxlan = [0x0c, 0, 0, next_protocol, 0, 0, 7, 0];
    behind(packet().udp(9, 4790), &[&vxlan, contents, &[0xa5; 14]])
}

#[test]
fn every_next_protocol_announces_every_version() {
    for next_protocol in [0x05, 0x08, 0x80, 0x82] {
        for (int, version) in [(int_1_0().hop(1), Version::V1_0), (int_in_tunnel().hop(1), Version::V0_5)] {
            let frame = vxlan_gpe(next_protocol, &int.last_of_shim(3).bytes());
            assert_eq!(found(&frame), at(Encapsulation::VxlanGpe, version, 50, 70));
        }
        let frame = vxlan_gpe(next_protocol, &inband_testkit::int_md().hop(1).bytes());
        assert_eq!(found(&frame), at(Encapsulation::VxlanGpe, Version::V2_1, 50, 74));
    }
    assert_eq!(found(&vxlan_gpe(0x03, &int_1_0().bytes())), Ok(None));
}

#[test]
fn what_else_the_old_next_protocols_mean_is_not_malformed_int() {
    let mpls = [0x00, 0x45, 0x01, 0x40, 0x45, 0, 0, 20];
    let like_2_1 = [0x10, 0x45, 0x01, 0x40, 0x45, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0];
    for next_protocol in [0x05, 0x08] {
        assert_eq!(found(&vxlan_gpe(next_protocol, &mpls)), Ok(None));
        assert_eq!(found(&vxlan_gpe(next_protocol, &like_2_1)), Ok(None));
    }
    assert!(found(&vxlan_gpe(0x82, &mpls)).is_err());
    let cut = vxlan_gpe(0x05, &int_in_tunnel().length(99).bytes());
    assert!(found(&cut).is_err(), "a type of INT is a claim");
    let host = ErrorKind::Undefined { field: "Type", found: 3 };
    assert_eq!(found(&vxlan_gpe(0x05, &host_int().bytes())), fault(50, Header::Shim, host));
}

#[test]
fn headers_of_different_versions_may_follow_one_another() {
    // int-2016/vxlan-02
    let first = int_1_0().hop(1).last_of_shim(0x05).bytes();
    let second = int_in_tunnel().hop(1).bytes();
    let frame = vxlan_gpe(0x08, &[first, second].concat());
    let layers = Layers::parse(Link::Ethernet, &frame, Strictness::Whole).unwrap().unwrap();
    let one = found(&frame).unwrap().unwrap();
    let two = following(&frame, &layers, &CodePoints::DEFAULT, &one).unwrap().unwrap();
    assert_eq!((one.version, two.version, two.shim), (Version::V1_0, Version::V0_5, 70));
    assert_eq!(following(&frame, &layers, &CodePoints::DEFAULT, &two), Ok(None));
}

#[test]
fn a_geneve_option_of_either_class_is_of_the_version_its_header_has() {
    let geneve = |class: u16, kind: u8, int: &[u8]| {
        let words = u8::try_from(int.len() / 4).unwrap();
        let base = [words + 1, 0, 0x65, 0x58, 0, 0, 7, 0];
        let [high, low] = class.to_be_bytes();
        behind(packet().udp(9, 6081), &[&base, &[high, low, kind, words], int, &[0xa5; 14]])
    };
    let version = |int: &[u8], kind| {
        [0x0103, 0x00ab]
            .map(|class| found(&geneve(class, kind, int)).unwrap().map(|location| location.version))
    };
    assert_eq!(version(&int_1_0().hop(1).header(), 1), [Some(Version::V1_0); 2]);
    assert_eq!(version(&int_in_tunnel().hop(1).header(), 1), [Some(Version::V0_5); 2]);
    assert_eq!(version(&int_in_tunnel().header(), 1), [Some(Version::V2016); 2]);
    assert_eq!(version(&inband_testkit::int_md().hop(1).bytes()[4..], 1), [Some(Version::V2_1); 2]);
    assert_eq!(version(&int_in_tunnel().hop(1).header(), 2), [Some(Version::V0_5); 2]);
    // Rep of 2016 is where 2.1 has its version.
    for replication in 0..4 {
        let int = int_in_tunnel().flags(replication << 4).words(&[1, 0x8000_0001]);
        assert_eq!(version(&int.header(), 1), [Some(Version::V2016); 2], "Rep {replication}");
    }
    // There is no third type before 2.0; contradictory headers are left for 2.1 to reject.
    assert_eq!(version(&int_in_tunnel().hop(1).header(), 3), [Some(Version::V2_1); 2]);
    assert_eq!(version(&int_in_tunnel().hop(1).total_hops(3).header(), 1), [Some(Version::V2_1); 2]);
}
