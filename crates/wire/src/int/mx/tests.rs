//! INT-MX headers with and without source-inserted metadata.

use inband_testkit::int_mx;
use zerocopy::IntoBytes;

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::dialect::Deviations;
use crate::int::instruction::Instructions;
use crate::int::locate::{Encapsulation, HeaderType, Location};
use crate::int::version::Version;

use super::{Mx, MxHeader};

fn location(bytes: &[u8]) -> Location {
    let end = 4 + usize::from(bytes[1]) * 4;
    Location {
        encapsulation: Encapsulation::Dscp,
        header_type: HeaderType::Mx,
        version: Version::V2_1,
        deviations: Deviations::NONE,
        shim: 0,
        header: 4,
        end,
    }
}

fn parse(bytes: &[u8]) -> Result<Mx<'_>, ParseError> {
    Mx::parse(bytes, &location(bytes))
}

#[test]
fn a_source_writes_version_bitmap_and_domain_and_zeros() {
    // int-2.1/mx-01, int-2.1/mx-31, int-2.1/mx-32, int-2.1/mx-33
    let mut header = MxHeader::new(Instructions(0x9000));
    assert_eq!(header.as_bytes(), [0x20, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 0, 0]);
    header.set_domain(0xabcd, 0xc000, 0x0001);
    header.set_discard();
    assert_eq!(header.as_bytes(), [0x28, 0, 0, 0, 0x90, 0, 0xab, 0xcd, 0xc0, 0, 0, 1]);
    assert!(header.discard());
}

#[test]
fn fields_read_back_and_reserved_bits_are_ignored() {
    // int-2.1/mx-02, int-2.1/mx-03
    let mut bytes = int_mx().flags(8).domain(0xabcd, 0xc000, 5).words(&[0xf, 0x1234_5678]).bytes();
    bytes[4] |= 0x07;
    bytes[5..8].fill(0xff);
    let mx = parse(&bytes).unwrap();
    assert!(mx.header.discard());
    assert_eq!((mx.header.version(), mx.header.instructions()), (2, Instructions(0x9000)));
    assert_eq!(
        (mx.header.domain_specific_id(), mx.header.ds_instruction(), mx.header.ds_flags()),
        (0xabcd, 0xc000, 5)
    );
    assert_eq!(mx.source_inserted, [0, 0, 0, 0xf, 0x12, 0x34, 0x56, 0x78]);
}

#[test]
fn source_inserted_metadata_is_counted_in_length_and_may_be_cut() {
    // int-2.1/mx-17
    let bytes = int_mx().domain(1, 1, 0).words(&[1, 2]).bytes();
    assert_eq!(bytes[1], 5);
    assert_eq!(parse(&bytes).unwrap().source_inserted.len(), 8);
    assert_eq!(parse(&bytes[..19]).unwrap().source_inserted.len(), 3);
    assert_eq!(parse(&bytes[..16]).unwrap().source_inserted.len(), 0);
    let short = ErrorKind::Short { needed: 12, left: 11 };
    assert_eq!(parse(&bytes[..15]).unwrap_err(), ParseError::new(4, Header::IntMx, short));
}

#[test]
fn metadata_behind_a_header_that_asks_for_none_is_an_error() {
    // int-2.1/mx-06
    for (id, instruction) in [(0, 0), (0, 0xffff), (7, 0)] {
        assert!(parse(&int_mx().domain(id, instruction, 0).bytes()).is_ok());
        let kind = ErrorKind::TooLarge { field: "source-inserted metadata", found: 1, most: 0 };
        let found = parse(&int_mx().domain(id, instruction, 0).words(&[1]).bytes()).unwrap_err();
        assert_eq!(found, ParseError::new(16, Header::IntMx, kind));
    }
}

#[test]
fn every_other_version_is_an_error() {
    // int-2.1/mx-01
    for version in (0..16).filter(|version| *version != 2) {
        let mut bytes = int_mx().bytes();
        bytes[4] = version << 4;
        let kind = ErrorKind::Version { found: version, expected: 2 };
        assert_eq!(parse(&bytes).unwrap_err(), ParseError::new(4, Header::IntMx, kind));
    }
}

#[test]
fn a_location_that_ends_inside_the_header_is_an_error() {
    let bytes = int_mx().bytes();
    let kind = ErrorKind::Short { needed: 12, left: 8 };
    let short = Location { end: 12, ..location(&bytes) };
    assert_eq!(Mx::parse(&bytes, &short).unwrap_err(), ParseError::new(4, Header::IntMx, kind));
}
