//! Deviations as sets, the flags of CableLabs bit by bit, and arbitrary bytes read as any dialect.

use std::collections::BTreeSet;
use std::vec::Vec;

use proptest::prelude::*;
use zerocopy::FromBytes;

use crate::dissect::dissect;
use crate::int::any::AnyHeader;
use crate::int::code_points::CodePoints;
use crate::int::md::MdHeader;
use crate::int::version::Version;
use crate::layers::{Link, Strictness};

use super::{Deviation, Deviations, Dialect, Reading};

const VERSIONS: [Version; 5] =
    [Version::V2016, Version::V0_5, Version::HostInt0_5, Version::V1_0, Version::V2_1];

#[test]
fn every_deviation_has_a_name_and_a_place_of_its_own() {
    let names: BTreeSet<_> = Deviation::ALL.iter().map(|deviation| deviation.name()).collect();
    assert_eq!(names.len(), Deviation::ALL.len());
    for deviation in Deviation::ALL {
        let alone = Deviations::of(&[deviation]);
        assert!(!alone.is_empty() && alone.iter().eq([deviation]), "{deviation:?}");
        assert!(Deviations::of(&Deviation::ALL).contains(deviation));
    }
    assert!(Deviations::NONE.is_empty() && Deviations::NONE.iter().next().is_none());
    assert!(Deviations::of(&Deviation::ALL).iter().eq(Deviation::ALL));
}

#[test]
fn a_dialect_departs_from_the_versions_it_exists_of_and_from_no_other() {
    for dialect in Dialect::ALL {
        for version in VERSIONS {
            let deviates = !dialect.deviations(version).is_empty();
            assert_eq!(deviates, dialect.versions().contains(&version), "{dialect:?} {version:?}");
        }
        assert!(dialect.dscp().is_some() != dialect.udp_port().is_some(), "one mark: {dialect:?}");
    }
}

#[test]
fn the_flags_of_cablelabs_are_those_of_2_1_two_bits_lower() {
    for bits in 0..=u16::MAX {
        let [first, second] = bits.to_be_bytes();
        let header = MdHeader::read_from_bytes(&[first, second, 0x02, 7, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        let raised = header.with_raised_flags();
        let flags = (raised.discard(), raised.max_hop_count_exceeded(), raised.mtu_exceeded());
        assert_eq!(flags, (bits & 0x0200 != 0, bits & 0x0100 != 0, bits & 0x0080 != 0), "{bits:#06x}");
        assert_eq!(raised.version(), header.version());
        assert_eq!(raised.with_lowered_flags(), header, "{bits:#06x}");
        assert_eq!((raised.hop_ml(), raised.remaining_hop_count()), (header.hop_ml(), 7));
    }
}

/// Chooses how arbitrary bytes are read, by the first of them.
fn reading(choice: u8) -> Reading {
    match choice % 4 {
        0 => Reading::Of(Dialect::Geant),
        1 => Reading::Of(Dialect::Onos),
        2 => Reading::Of(Dialect::Cablelabs),
        _ => Reading::Lenient,
    }
}

proptest! {
    #[test]
    fn what_is_found_leniently_lies_inside_its_packet(
        choice in any::<u8>(),
        tos in prop::sample::select(std::vec![0x00_u8, 0x04, 0x5c, 0x80]),
        port in prop::sample::select(std::vec![80_u16, 555, 33122, 4790]),
        payload in prop::collection::vec(any::<u8>(), 0..80),
        start in prop::sample::select(std::vec![
            [0x01, 0, 0x06, 0, 0x10, 0], [0x01, 0, 0x07, 0, 0x04, 2], [0x18, 6, 0, 17, 0x20, 0], [0x10, 6, 9, 0, 0, 0],
        ]),
    ) {
        let payload: Vec<u8> = start.into_iter().chain(payload).collect();
        let dscp = tos >> 2;
        let frame = inband_testkit::packet().udp(40000, port).dscp(dscp).payload(&payload).build();
        let code_points = CodePoints {
            udp_ports: &[33122, 555],
            reading: reading(choice),
            dialect_marks: &Dialect::ALL,
            ..CodePoints::DEFAULT
        };
        let found = dissect(Link::Ethernet, &frame, &code_points, Strictness::Whole);
        for (layers, location) in found.int() {
            prop_assert!(layers.l4 < location.shim && location.shim + 4 == location.header);
            prop_assert!(location.header <= location.end && location.end <= layers.end);
            if let Ok(header) = AnyHeader::parse(&frame, location, code_points.domains) {
                prop_assert!(header.deviations(location.deviations).iter().all(|one| location.deviations.contains(one)));
                prop_assert!(header.hops().count() <= header.hop_count());
            }
        }
    }

    #[test]
    fn what_is_to_the_letter_is_read_leniently_as_it_is_strictly(
        hops in 0..4_u8,
        is_old in any::<bool>(),
        bitmap in any::<u16>(),
    ) {
        let int = if is_old {
            let bitmap = bitmap & 0xff01 | 0x8000;
            let words = bitmap.count_ones() + u32::from(bitmap & 0x0200 != 0);
            let stack = std::vec![7; usize::from(hops) * usize::try_from(words).unwrap()];
            inband_testkit::int_1_0().bitmap(bitmap).words(&stack).bytes()
        } else {
            (0..hops).fold(inband_testkit::int_md(), |int, id| int.hop(id.into())).bytes()
        };
        let frame = inband_testkit::packet().tcp(40000, 80).dscp(0x17).payload(&int).build();
        let lenient =
            CodePoints { reading: Reading::Lenient, dialect_marks: &Dialect::ALL, ..CodePoints::DEFAULT };
        let read = |code_points| {
            let found = dissect(Link::Ethernet, &frame, code_points, Strictness::Whole);
            found.int().map(|(_, location)| *location).collect::<Vec<_>>()
        };
        prop_assert_eq!(read(&lenient), read(&CodePoints::DEFAULT));
    }
}
