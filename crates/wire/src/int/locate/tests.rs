//! INT in every encapsulation, up to the last byte that may contain it, and look-alikes.

use std::vec::Vec;

use inband_testkit::{Int, Packet, host_int, int_md, int_mx, md_frame, packet};

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::code_points::{CodePoints, TcpOptions};
use crate::int::dialect::Deviations;
use crate::int::dscp_mark::DscpMark;
use crate::int::version::Version;
use crate::layers::{Layers, Link, Strictness};

use super::{Encapsulation, HeaderType, Location, find, following};

/// Finds INT in a whole frame.
fn found(frame: &[u8]) -> Result<Option<Location>, ParseError> {
    found_with(frame, &CodePoints::DEFAULT)
}

fn found_with(frame: &[u8], code_points: &CodePoints<'_>) -> Result<Option<Location>, ParseError> {
    let layers = Layers::parse(Link::Ethernet, frame, Strictness::Whole).unwrap().unwrap();
    find(frame, &layers, code_points)
}

fn behind(carrier: Packet, parts: &[&[u8]]) -> Vec<u8> {
    carrier.payload(&parts.concat()).build()
}

/// INT in a UDP packet to `port`; `first` is the first byte of the shim.
fn to_port(port: u16, first: u8) -> Vec<u8> {
    let mut int = int_md().hop(1).bytes();
    int[0] = first;
    behind(packet().udp(9, port), &[&int, b"data"])
}

fn location(encapsulation: Encapsulation, shim: usize, words: usize) -> Location {
    let header = shim + 4;
    Location {
        encapsulation,
        header_type: HeaderType::Md,
        version: Version::V2_1,
        deviations: Deviations::NONE,
        shim,
        header,
        end: header + words * 4,
    }
}

fn fault(at: usize, kind: ErrorKind) -> Result<Option<Location>, ParseError> {
    Err(ParseError::new(at, Header::Shim, kind))
}

#[test]
fn dscp_marks_int_behind_tcp_and_udp_over_ipv4_and_ipv6() {
    // int-2.1/l4-05, int-2.1/l4-12, int-2.1/l4-25
    let carriers = [
        (packet().tcp(1, 2).options(&[1; 12]), 34 + 32),
        (packet().udp(1, 2), 34 + 8),
        (packet().ipv6().vlan(3).tcp(1, 2), 58 + 20),
        (packet().ipv6().extension(0, &[0; 6]).udp(1, 2), 54 + 8 + 8),
    ];
    for (carrier, shim) in carriers {
        let frame = md_frame().over(carrier).hop(2).hop(1).build();
        assert_eq!(found(&frame), Ok(Some(location(Encapsulation::Dscp, shim, 7))));
    }
}

#[test]
fn int_stands_before_the_tcp_options_where_the_domain_says_so() {
    // int-2.1/l4-01, int-2.1/l4-02
    let mut frame = md_frame().hop(1).payload(b"").build();
    frame[34 + 12] = 0xa0; // To TCP, options follow the fixed header.
    let before = CodePoints { tcp_options: TcpOptions::Before, ..CodePoints::DEFAULT };
    assert_eq!(found_with(&frame, &before), Ok(Some(location(Encapsulation::Dscp, 54, 5))));
}

#[test]
fn npt_is_not_looked_at_behind_dscp() {
    for npt in 0..4 {
        let mut frame = md_frame().hop(1).build();
        frame[54] |= npt << 2 | 0x03;
        assert_eq!(found(&frame), Ok(Some(location(Encapsulation::Dscp, 54, 5))), "NPT {npt}");
    }
}

#[test]
fn other_dscp_values_mark_nothing() {
    for dscp in (0..64).filter(|dscp| *dscp != 0x17) {
        let frame = behind(packet().tcp(1, 2).dscp(dscp), &[&int_md().hop(1).bytes()]);
        assert_eq!(found(&frame), Ok(None), "{dscp:#04x}");
    }
}

#[test]
fn the_udp_port_marks_int_and_npt_says_what_follows() {
    // int-2.1/l4-06, int-2.1/l4-07, int-2.1/l4-28
    let mark = |encapsulation| Ok(Some(location(encapsulation, 42, 5)));
    assert_eq!(found(&to_port(33122, 0x14)), mark(Encapsulation::UdpPort));
    assert_eq!(found(&to_port(33122, 0x18)), mark(Encapsulation::Udp));
    for (npt, first) in [(0, 0x10), (3, 0x1c)] {
        let kind = ErrorKind::Undefined { field: "NPT", found: npt };
        assert_eq!(found(&to_port(33122, first)), fault(42, kind));
    }
    assert_eq!(found(&to_port(33121, 0x14)), Ok(None));
}

#[test]
fn a_probe_marker_marks_int_only_with_int_behind_it() {
    // int-2.1/l4-20, int-2.1/l4-21
    let marker = 0xaaaa_aaaa_bbbb_bbbb_u64.to_be_bytes();
    let probe = |marker: &[u8], int: &[u8]| behind(packet().tcp(1, 2), &[marker, int, b"data"]);
    let int = int_md().hop(1).bytes();
    assert_eq!(found(&probe(&marker, &int)), Ok(Some(location(Encapsulation::ProbeMarker, 62, 5))));
    let mut reversed = marker;
    reversed.reverse();
    assert_eq!(found(&probe(&reversed, &int)), Ok(None));
    for (at, byte) in [(0, 0x40), (0, 0x14), (0, 0x11), (1, 2), (1, 200), (2, 1), (3, 1), (4, 0x10)] {
        let mut other = int.clone();
        other[at] = byte;
        assert_eq!(found(&probe(&marker, &other)), Ok(None), "byte {at} is {byte:#04x}");
    }
}

#[test]
fn every_type_but_1_2_and_3_is_an_error() {
    // int-2.1/l4-26
    for code in 0..16 {
        let mut frame = md_frame().hop(1).build();
        frame[54] = code << 4;
        match HeaderType::from_code(code) {
            Some(header_type) => {
                let expected = Location { header_type, ..location(Encapsulation::Dscp, 54, 5) };
                assert_eq!((found(&frame), header_type.code()), (Ok(Some(expected)), code));
            }
            None => {
                let kind = ErrorKind::Undefined { field: "Type", found: usize::from(code) };
                assert_eq!(found(&frame), fault(54, kind));
            }
        }
    }
}

#[test]
fn length_is_at_least_the_header_and_at_most_the_payload() {
    // int-2.1/l4-29
    let with_length = |words| md_frame().with(|int| int.length(words)).payload(&[0xa5; 9]).build();
    let small = ErrorKind::TooSmall { field: "Length", found: 2, least: 3 };
    assert_eq!(found(&with_length(2)), fault(54, small));
    // 12 bytes of header and 9 of payload are 5 words and a byte.
    for words in 3..=5 {
        assert_eq!(found(&with_length(words)), Ok(Some(location(Encapsulation::Dscp, 54, words.into()))));
    }
    for words in [6, 255] {
        let large = ErrorKind::TooLarge { field: "Length", found: words.into(), most: 5 };
        assert_eq!(found(&with_length(words)), fault(54, large));
    }
}

#[test]
fn the_longest_shim_is_255_words() {
    let frame = md_frame().with(|int| int.words(&[0; 252])).payload(b"").build();
    assert_eq!(found(&frame), Ok(Some(location(Encapsulation::Dscp, 54, 255))));
}

#[test]
fn a_destination_header_may_be_empty() {
    // int-2.1/headers-01: a destination header without another INT header.
    let frame = behind(packet().tcp(1, 2).dscp(0x17), &[&[0x20, 0, 0, 0]]);
    let expected = Location { header_type: HeaderType::Destination, ..location(Encapsulation::Dscp, 54, 0) };
    assert_eq!(found(&frame), Ok(Some(expected)));
}

#[test]
fn udp_length_ends_int_and_not_the_ip_packet() {
    let shorter = packet().udp(1, 2).dscp(0x17).udp_length(8 + 4 + 12);
    let frame = behind(shorter, &[&int_md().hop(1).bytes()]);
    let large = ErrorKind::TooLarge { field: "Length", found: 5, most: 3 };
    assert_eq!(found(&frame), fault(42, large));
    let longer = packet().udp(1, 2).dscp(0x17).udp_length(8 + 24 + 1);
    let kind = ErrorKind::TooLarge { field: "Length", found: 33, most: 32 };
    let error = ParseError::new(34, Header::Udp, kind);
    assert_eq!(found(&behind(longer, &[&int_md().hop(1).bytes()])), Err(error));
}

#[test]
fn only_the_first_fragment_holds_int() {
    let int = int_md().hop(1).bytes();
    let first = behind(packet().udp(1, 2).udp_length(4000).dscp(0x17).fragment(0, true), &[&int]);
    assert_eq!(found(&first), Ok(Some(location(Encapsulation::Dscp, 42, 5))));
    let later = behind(packet().udp(1, 2).dscp(0x17).fragment(1, true), &[&[0; 8], &int]);
    assert_eq!(found(&later), Ok(None));
}

#[test]
fn gre_announces_int_by_its_protocol_and_padding_is_not_looked_at() {
    // int-2.1/gre-06
    let gre = |protocol: u16, int: &[u8]| {
        behind(packet().protocol(47), &[&[0, 0], &protocol.to_be_bytes(), int, &[0x45; 20]])
    };
    let int = int_md().hop(1).bytes();
    assert_eq!(found(&gre(0x4569, &int)), Ok(Some(location(Encapsulation::Gre, 38, 5))));
    assert_eq!(found(&gre(0x0800, &int)), Ok(None));
    let padded = packet().protocol(47).payload(&[0, 0, 0x45]).padding(&[0x69; 40]).build();
    assert_eq!(found(&padded), Ok(None));
}

#[test]
fn gre_that_does_not_announce_int_is_no_error_however_it_looks() {
    let gre = |flags_version: [u8; 2], protocol: u16, rest: &[u8]| {
        behind(packet().protocol(47), &[&flags_version, &protocol.to_be_bytes(), rest])
    };
    // PPTP; source routes; a key behind the end of the packet.
    let others =
        [([0x30, 0x81], 0x880b, &[0; 12][..]), ([0x40, 0], 0x0800, &[0; 12]), ([0x20, 0], 0x0800, &[])];
    for (flags_version, protocol, rest) in others {
        assert_eq!(found(&gre(flags_version, protocol, rest)), Ok(None), "{flags_version:?}");
        let announced = found(&gre(flags_version, 0x4569, rest)).unwrap_err();
        assert_eq!((announced.at, announced.header), (34, Header::Gre), "{flags_version:?}");
    }
}

#[test]
fn vxlan_gpe_chains_its_shims() {
    // int-2.1/vxlan-02, int-2.1/vxlan-03: Next Protocol of VXLAN-GPE announces a shim with the INT type.
    // int-2.1/vxlan-04, int-2.1/headers-02: MD names INT as next protocol, the destination header does not.
    let mut first = int_md().hop(1).bytes();
    first[3] = 0x82;
    let last = [0x20, 1, 0, 3, 0xde, 0xad, 0xbe, 0xef];
    let vxlan = [0x0c, 0, 0, 0x82, 0, 0, 7, 0];
    let frame = behind(packet().udp(9, 4790), &[&vxlan, &first, &last, &[0xa5; 14]]);
    let layers = Layers::parse(Link::Ethernet, &frame, Strictness::Whole).unwrap().unwrap();
    let one = found(&frame).unwrap().unwrap();
    assert_eq!(one, location(Encapsulation::VxlanGpe, 50, 5));
    let two = following(&frame, &layers, &CodePoints::DEFAULT, &one).unwrap().unwrap();
    let expected =
        Location { header_type: HeaderType::Destination, ..location(Encapsulation::VxlanGpe, 74, 1) };
    assert_eq!(two, expected);
    assert_eq!(following(&frame, &layers, &CodePoints::DEFAULT, &two), Ok(None));
}

#[test]
fn vxlan_without_the_p_bit_or_with_another_protocol_holds_no_int() {
    // int-2.1/vxlan-01
    let int = int_md().hop(1).bytes();
    for vxlan in [[0x08, 0, 0, 0x82, 0, 0, 7, 0], [0x0c, 0, 0, 3, 0, 0, 7, 0]] {
        assert_eq!(found(&behind(packet().udp(9, 4790), &[&vxlan, &int])), Ok(None));
    }
}

/// A Geneve packet with these options.
fn geneve(options: &[u8]) -> Vec<u8> {
    let words = u8::try_from(options.len() / 4).unwrap();
    behind(packet().udp(9, 6081), &[&[words, 0, 0x65, 0x58, 0, 0, 7, 0], options, &[0xa5; 20]])
}

/// An INT header as the data of a Geneve option.
fn option(int: &Int, kind: u8) -> Vec<u8> {
    let int = &int.bytes()[4..];
    [&[0x01, 0x03, kind, u8::try_from(int.len() / 4).unwrap()][..], int].concat()
}

#[test]
fn geneve_options_of_the_int_class_are_found_behind_others() {
    // int-2.1/geneve-01, int-2.1/geneve-02, int-2.1/geneve-03
    let other = [0x01, 0x02, 0x01, 0x01, 1, 2, 3, 4];
    let frame = geneve(&[&other, &option(&int_md().hop(1), 1)[..], &option(&int_mx(), 3)].concat());
    let layers = Layers::parse(Link::Ethernet, &frame, Strictness::Whole).unwrap().unwrap();
    let one = found(&frame).unwrap().unwrap();
    assert_eq!(one, location(Encapsulation::Geneve, 58, 5));
    let two = following(&frame, &layers, &CodePoints::DEFAULT, &one).unwrap().unwrap();
    assert_eq!((two.shim, two.header_type), (82, HeaderType::Mx));
    assert_eq!(following(&frame, &layers, &CodePoints::DEFAULT, &two), Ok(None));
    assert_eq!(found(&geneve(&other)), Ok(None));
    assert_eq!(found(&geneve(&option(&int_md(), 9))), Ok(None), "a type without a meaning");
}

#[test]
fn a_geneve_option_shorter_than_its_header_is_an_error() {
    let kind = ErrorKind::TooSmall { field: "Length", found: 2, least: 3 };
    let error = ParseError::new(50, Header::GeneveOption, kind);
    assert_eq!(found(&geneve(&[0x01, 0x03, 0x01, 0x02, 0, 0, 0, 0, 0, 0, 0, 0])), Err(error));
}

#[test]
fn tunnel_headers_in_the_padding_are_none() {
    for port in [4790, 6081] {
        let frame = packet().udp(9, port).payload(&[0x0c, 0, 0]).padding(&[0x82; 60]).build();
        assert_eq!(found(&frame), Ok(None), "port {port}");
    }
}

#[test]
fn geneve_without_an_int_option_is_no_error_however_it_looks() {
    let with = |first: u8, options: &[u8]| {
        found(&behind(packet().udp(9, 6081), &[&[first, 0, 0x65, 0x58, 0, 0, 7, 0], options]))
    };
    let other = [0x01, 0x02, 0x01, 0x01, 1, 2, 3, 4];
    let int = option(&int_md(), 1);

    assert_eq!(with(0x42, &other), Ok(None), "version 1");
    assert_eq!(with(0x06, &other), Ok(None), "options behind the end of the packet");
    assert_eq!(with(0x02, &[0x01, 0x02, 0x01, 0x02, 1, 2, 3, 4, 5, 6, 7, 8]), Ok(None), "an option too long");
    let cut = with(0x06, &[&other[..], &int[..8]].concat()).unwrap_err();
    assert_eq!((cut.at, cut.header), (42, Header::Geneve), "an INT option that is cut");
    let long = with(0x03, &[&other[..], &int[..4], &[0; 16]].concat()).unwrap_err();
    assert_eq!((long.at, long.header), (58, Header::GeneveOption), "an INT option behind the options");
}

#[test]
fn a_tunnel_whose_outer_dscp_was_copied_carries_no_int_of_its_own() {
    // int-2.1/l4-04
    let vxlan = [0x08, 0, 0, 0, 0, 0, 7, 0];
    for port in [4789, 8472] {
        assert_eq!(found(&behind(packet().udp(9, port).dscp(0x17), &[&vxlan, &[0xa5; 30]])), Ok(None));
    }
    let long_options =
        [&[0x10, 0, 0x65, 0x58, 0, 0, 7, 0][..], &[0x01, 0x02, 0x01, 0x0f], &[0; 60], &[0xa5; 30]];
    assert_eq!(found(&behind(packet().udp(9, 6081).dscp(0x17), &long_options)), Ok(None));
}

#[test]
fn a_gtpu_header_whose_teid_begins_like_int_is_no_shim() {
    // int-2.1/l4-03: the first byte of GTP-U reads as INT-MX, the message type as 255 words.
    let gtpu = [0x30, 0xff, 0x04, 0x4c, 0x21, 0, 0, 1];
    assert_eq!(found(&behind(packet().udp(9, 2152).dscp(0x17), &[&gtpu, &[0xa5; 1100]])), Ok(None));
    let frame = md_frame().over(packet().udp(9, 2152)).hop(2).hop(1).payload(&gtpu).build();
    assert_eq!(found(&frame), Ok(Some(location(Encapsulation::Dscp, 42, 7))));
}

#[test]
fn dscp_marks_int_also_in_front_of_a_tunnel_header_and_on_the_int_port() {
    // int-2.1/l4-03: INT over UDP on a packet that carries VXLAN or Geneve.
    for port in [4789, 4790, 6081, 33122] {
        let frame = md_frame().over(packet().udp(9, port)).hop(2).hop(1).build();
        assert_eq!(found(&frame), Ok(Some(location(Encapsulation::Dscp, 42, 7))), "port {port}");
    }
}

#[test]
fn host_int_before_tcp_options_is_no_shim_behind_them_whatever_the_node_id() {
    // host-int-0.5/packet-12
    let code_points = CodePoints { dscp: &[DscpMark { value: 1, mask: 1 }], ..CodePoints::DEFAULT };
    for id in [2_u32, 0x2000_0005, 0x2c00_0001, 0x1003_0000, 0x3003_0000, 0x0100_0801, 0x0200_0801] {
        let mut int = host_int().bytes();
        int[12..16].copy_from_slice(&id.to_be_bytes());
        let mut frame = behind(packet().tcp(1, 2).dscp(0x0b), &[&int, &[1; 12], &[0xa5; 200]]);
        // The options of a header that is 12 bytes longer start where INT does.
        frame[14 + 20 + 12] = 0x80;
        let found = found_with(&frame, &code_points).unwrap().unwrap();
        assert_eq!((found.version, found.shim), (Version::HostInt0_5, 54), "{id:#010x}");
    }
}

#[test]
fn a_probe_marker_in_front_of_a_tunnel_header_marks_int_too() {
    let marker = 0xaaaa_aaaa_bbbb_bbbb_u64.to_be_bytes();
    for port in [4790, 6081] {
        let frame = behind(packet().udp(9, port), &[&marker, &int_md().hop(1).bytes(), b"data"]);
        assert_eq!(found(&frame), Ok(Some(location(Encapsulation::ProbeMarker, 50, 5))), "port {port}");
    }
}

#[test]
fn an_empty_list_of_code_points_switches_an_encapsulation_off() {
    let frames = [md_frame().hop(1).build(), to_port(33122, 0x14), geneve(&option(&int_md(), 1))];
    assert!(frames.iter().all(|frame| found_with(frame, &CodePoints::NONE) == Ok(None)));
}

#[test]
fn every_encapsulation_has_the_name_users_write() {
    let all = [
        (Encapsulation::Dscp, "dscp"),
        (Encapsulation::UdpPort, "udp-port"),
        (Encapsulation::Udp, "udp"),
        (Encapsulation::ProbeMarker, "probe-marker"),
        (Encapsulation::Gre, "gre"),
        (Encapsulation::VxlanGpe, "vxlan-gpe"),
        (Encapsulation::Geneve, "geneve"),
    ];
    assert!(all.iter().all(|(encapsulation, name)| encapsulation.name() == *name));
}
