//! Packets of implementations that deviate from the formats are read, and their deviations named.

use inband_testkit::{hex, packet};
use inband_wire::int::{
    AnyHeader, CodePoints, Deviation, Dialect, DscpMark, HeaderType, HopMetadata, Interfaces, Location,
    Original, Reading, Version,
};
use inband_wire::{Dissection, Link, Strictness, dissect};

macro_rules! vector {
    ($name:literal) => {
        hex(include_str!(concat!("../../../testdata/packets/", $name, ".hex")))
    };
}

fn read(frame: &[u8], reading: Reading, marks: &[Dialect]) -> Dissection {
    let code_points = CodePoints { reading, dialect_marks: marks, ..CodePoints::DEFAULT };
    dissect(Link::Ethernet, frame, &code_points, Strictness::Whole)
}

/// The only INT header in a lenient reading; a strict one finds none.
fn lenient(frame: &[u8]) -> Location {
    let found = read(frame, Reading::Lenient, &Dialect::ALL);
    assert_eq!(found.error, None);
    let places: Vec<_> = found.int().map(|(_, location)| *location).collect();
    assert_eq!(places.len(), 1);
    places[0]
}

/// The header and its deviations.
fn header<'a>(frame: &'a [u8], location: &Location) -> (AnyHeader<'a>, Vec<Deviation>) {
    let header =
        AnyHeader::parse(frame, location, inband_wire::int::domain::WELL_KNOWN).expect("it is sound");
    (header, header.deviations(location.deviations).iter().collect())
}

fn hops(header: &AnyHeader<'_>) -> Vec<HopMetadata> {
    header.hops().map(|hop| hop.metadata()).collect()
}

#[test]
fn geant_1_0_has_long_timestamps_short_level_2_ports_and_a_packet_number() {
    let frame = vector!("dialect-geant-1.0-udp");
    let location = lenient(&frame);
    let (header, deviations) = header(&frame, &location);
    assert_eq!((location.version, location.timestamp_bits()), (Version::V1_0, 64));
    let expected = [
        Deviation::MarkOfGeant,
        Deviation::NumberInReserved,
        Deviation::WideTimestamps,
        Deviation::ShortLevel2Ports,
    ];
    assert_eq!(deviations, expected);
    let AnyHeader::HopByHop(int) = header else { panic!("{header:?}") };
    assert_eq!(int.sequence, Some(0x0102));
    let hops = hops(&header);
    let nodes: Vec<_> = hops.iter().map(|hop| (hop.node_id, hop.egress_utilization)).collect();
    assert_eq!(nodes, [(Some(2), Some(14)), (Some(1), Some(7))]);
    for hop in hops {
        assert_eq!(hop.interfaces, Some(Interfaces { ingress: 1, egress: 2 }));
        assert_eq!(hop.ingress_timestamp, Some(1_700_000_000_000_000_000));
        assert_eq!(hop.egress_timestamp, Some(1_700_000_000_000_001_000));
        assert_eq!((hop.ingress_interface_level2, hop.egress_interface_level2), (Some(10), Some(11)));
    }
    assert_eq!(Original::read(&frame, &location).dscp, Some(0x0a));
}

#[test]
fn geant_0_5_counts_instructions_and_not_words() {
    let frame = vector!("dialect-geant-0.5-tcp");
    let location = lenient(&frame);
    let (header, deviations) = header(&frame, &location);
    assert_eq!(deviations, [Deviation::MarkOfGeant, Deviation::ShortVersion, Deviation::WideTimestamps]);
    let AnyHeader::HopByHop(int) = header else { panic!("{header:?}") };
    assert_eq!((int.replication, int.copy, int.max_hop_count_exceeded), (0, false, true));
    assert_eq!((int.version, int.hop_ml.count(), int.hop_count()), (Version::V0_5, 5, 1));
    assert_eq!(hops(&header)[0].egress_timestamp, Some(1_700_000_000_000_001_000));
    let original = Original::read(&frame, &location);
    assert_eq!((original.dscp, original.destination_port), (Some(0x0a), Some(80)));
}

#[test]
fn onos_has_its_flags_where_2016_has_them() {
    let frame = vector!("dialect-onos-0.5-udp");
    let location = lenient(&frame);
    let (header, deviations) = header(&frame, &location);
    assert_eq!(deviations, [Deviation::MarkOfOnos, Deviation::ShortVersion]);
    assert_eq!((header.max_hop_count_exceeded(), header.hop_count()), (Some(true), 2));
    assert_eq!(location.timestamp_bits(), 32);
}

#[test]
fn cablelabs_has_its_flags_two_bits_lower() {
    let frame = vector!("dialect-cablelabs-udp");
    let location = lenient(&frame);
    let (header, deviations) = header(&frame, &location);
    assert_eq!(deviations, [Deviation::PortOfCablelabs, Deviation::LowFlags]);
    assert_eq!((header.max_hop_count_exceeded(), header.mtu_exceeded()), (Some(true), Some(true)));
    let AnyHeader::Md(md) = header else { panic!("{header:?}") };
    assert!(!md.header.discard());
    assert_eq!(md.stack.source_only(), [0xa6, 0x1a, 0xf6, 0xb1, 0x64, 0x7d, 0, 0]);
}

#[test]
fn cablelabs_is_read_as_its_code_and_as_its_document_have_it() {
    let code = vector!("dialect-cablelabs-code-length");
    let (_, deviations) = header(&code, &lenient(&code));
    assert_eq!(deviations, [Deviation::PortOfCablelabs, Deviation::LengthCountsShim]);
    let document = vector!("dialect-cablelabs-document");
    let location = lenient(&document);
    let (int, deviations) = header(&document, &location);
    let expected = [Deviation::PortOfCablelabs, Deviation::OtherNextProtocolType, Deviation::LowFlags];
    assert_eq!(deviations, expected);
    assert_eq!(Original::read(&document, &location).ip_protocol, Some(6));
    for frame in [&code, &document] {
        assert_eq!(hops(&header(frame, &lenient(frame)).0).len(), 2);
    }
    let AnyHeader::Md(md) = int else { panic!("{int:?}") };
    assert!(md.header.discard());
}

#[test]
fn original_values_are_found_in_the_places_others_put_them() {
    for (frame, deviations, original) in [
        (
            vector!("lenient-dscp-third-byte"),
            vec![Deviation::DscpInThirdByte],
            Original { dscp: Some(0x0a), ..Original::default() },
        ),
        (
            vector!("lenient-dscp-unshifted"),
            vec![Deviation::DscpUnshifted],
            Original { dscp: Some(0x0a), ..Original::default() },
        ),
        (
            vector!("lenient-version-0-npt2-third-byte"),
            vec![Deviation::ProtocolInThirdByte, Deviation::Version0],
            Original { ip_protocol: Some(6), ..Original::default() },
        ),
        (
            vector!("lenient-vxlan-flags"),
            vec![Deviation::VxlanFlags],
            Original { next_protocol: Some(3), ..Original::default() },
        ),
    ] {
        let location = lenient(&frame);
        assert_eq!(header(&frame, &location).1, deviations);
        assert_eq!(Original::read(&frame, &location), original);
        let is_mx = location.header_type == HeaderType::Mx;
        assert_eq!(header(&frame, &location).0.hop_count(), usize::from(!is_mx));
    }
}

#[test]
fn to_the_letter_none_of_it_is_there() {
    for frame in [
        vector!("dialect-geant-1.0-udp"),
        vector!("dialect-geant-0.5-tcp"),
        vector!("dialect-onos-0.5-udp"),
        vector!("dialect-cablelabs-udp"),
        vector!("lenient-vxlan-flags"),
    ] {
        let found = read(&frame, Reading::Strict, &[]);
        assert_eq!((found.int().count(), found.error), (0, None));
        let without_marks = read(&frame, Reading::Lenient, &[]);
        assert!(without_marks.int().all(|(_, location)| location.deviations.contains(Deviation::VxlanFlags)));
    }
}

#[test]
fn a_header_that_could_be_of_two_is_to_the_letter_unless_a_dialect_is_named() {
    // Bits 4 and 6 are three words in 1.0, and three in the GEANT dialect.
    let int = inband_testkit::int_1_0().bitmap(0x0a00).words(&[1, 2, 3]).bytes();
    let frame = inband_testkit::packet().tcp(1, 80).dscp(0x17).payload(&int).build();
    let seen = |reading| {
        let found = read(&frame, reading, &[]);
        let location = *found.int().next().expect("it is marked").1;
        hops(&header(&frame, &location).0)[0]
    };
    let letter = seen(Reading::Lenient);
    assert_eq!((letter.ingress_timestamp, letter.ingress_interface_level2), (Some(1), Some(2)));
    let geant = seen(Reading::Of(Dialect::Geant));
    assert_eq!(geant.ingress_timestamp, Some(1 << 32 | 2));
    assert_eq!((geant.ingress_interface_level2, geant.egress_interface_level2), (Some(0), Some(3)));
}

#[test]
fn a_header_that_fits_two_versions_of_a_dialect_is_of_the_one_tried_first() {
    let int = [1, 0, 5, 0, 0x10, 0xe1, 1, 1, 0x80, 0, 0, 0, 0, 0, 0, 9, 6, 0, 22, 0];
    let frame = packet().dscp(0x20).tcp(40000, 22).payload(&int).build();
    let version = |reading| {
        let code_points =
            CodePoints { dscp: &[DscpMark { value: 0x20, mask: 0x3f }], reading, ..CodePoints::DEFAULT };
        let found = dissect(Link::Ethernet, &frame, &code_points, Strictness::Whole);
        found.int().next().map(|(_, location)| location.version)
    };
    assert_eq!(version(Reading::OfVersion(Dialect::Geant, Version::V0_5)), Some(Version::V0_5));
    assert_eq!(version(Reading::OfVersion(Dialect::Geant, Version::V1_0)), Some(Version::V1_0));
    assert_eq!(version(Reading::Of(Dialect::Geant)), Some(Version::V1_0));
}
