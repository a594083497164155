//! GRE headers with every combination of optional fields.

use crate::error::{ErrorKind, Header, ParseError};

use super::payload;

#[test]
fn checksum_key_and_sequence_number_take_four_bytes_each() {
    for flags in 0..=u8::MAX {
        let header = [flags, 0, 0x45, 0x69];
        let bytes = [&header[..], &[0xa5; 16]].concat();
        let optional = [0x80, 0x20, 0x10].iter().filter(|bit| flags & **bit != 0).count();
        match payload(&bytes, 0) {
            Ok((header, at)) => {
                assert_eq!((at, header.protocol.get()), (4 + optional * 4, 0x4569));
                assert_eq!(header.has_checksum(), flags & 0x80 != 0);
            }
            Err(error) => {
                assert!(flags & 0x40 != 0, "{flags:#04x}: {error}");
            }
        }
    }
}

#[test]
fn other_versions_and_source_routes_are_errors() {
    for version in 1..8 {
        let kind = ErrorKind::Version { found: version, expected: 0 };
        assert_eq!(payload(&[0, version, 8, 0], 0).unwrap_err(), ParseError::new(0, Header::Gre, kind));
    }
    let kind = ErrorKind::Undefined { field: "routing flag", found: 1 };
    assert_eq!(payload(&[0x40, 0, 8, 0], 0).unwrap_err(), ParseError::new(0, Header::Gre, kind));
}

#[test]
fn a_header_is_short_one_byte_before_it_ends() {
    let bytes = [0xb0, 0, 8, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3];
    let kind = |needed, left| ParseError::new(0, Header::Gre, ErrorKind::Short { needed, left });
    assert_eq!(payload(&bytes[..3], 0).unwrap_err(), kind(4, 3));
    assert_eq!(payload(&bytes[..15], 0).unwrap_err(), kind(16, 15));
    assert_eq!(payload(&bytes, 0).map(|(_, at)| at), Ok(16));
}
