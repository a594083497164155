//! GTP-U headers with and without optional part and extensions.

use std::vec::Vec;

use crate::error::{ErrorKind, Header, ParseError};

use super::{G_PDU, payload};

fn header(flags: u8, behind: &[u8]) -> Vec<u8> {
    [&[flags, G_PDU, 0, 0, 0x12, 0x34, 0x56, 0x78], behind].concat()
}

fn payload_at(bytes: &[u8]) -> Result<Option<usize>, ParseError> {
    payload(bytes, 0).map(|(_, at)| at)
}

#[test]
fn a_plain_header_takes_8_bytes() {
    let bytes = header(0x30, &[0x45]);
    let (read, at) = payload(&bytes, 0).unwrap();
    assert_eq!((read.teid.get(), at), (0x1234_5678, Some(8)));
}

#[test]
fn any_of_e_s_and_pn_adds_four_bytes() {
    for bits in 1..8 {
        assert_eq!(payload_at(&header(0x30 | bits, &[0, 7, 0, 0])), Ok(Some(12)), "{bits:#05b}");
        let kind = ErrorKind::Short { needed: 12, left: 11 };
        let cut = ParseError::new(0, Header::Gtpu, kind);
        assert_eq!(payload_at(&header(0x30 | bits, &[0, 7, 0])), Err(cut), "{bits:#05b}");
    }
}

#[test]
fn a_next_type_without_the_e_bit_means_nothing() {
    assert_eq!(payload_at(&header(0x32, &[0, 7, 0, 0x85, 0x45])), Ok(Some(12)));
}

#[test]
fn extensions_are_skipped_by_their_length() {
    // The PDU session container of 5G, then one of two words.
    let extensions = [0, 7, 0, 0x85, 1, 0, 9, 0xc0, 2, 1, 2, 3, 4, 5, 6, 0];
    assert_eq!(payload_at(&header(0x34, &extensions)), Ok(Some(8 + 16)));
    let cut = ParseError::new(16, Header::GtpuExtension, ErrorKind::Short { needed: 8, left: 7 });
    assert_eq!(payload_at(&header(0x34, &extensions[..15])), Err(cut));
}

#[test]
fn an_extension_without_a_length_and_too_many_of_them_are_errors() {
    let kind = ErrorKind::TooSmall { field: "length", found: 0, least: 1 };
    let none = ParseError::new(12, Header::GtpuExtension, kind);
    assert_eq!(payload_at(&header(0x34, &[0, 0, 0, 0x85, 0, 0, 0, 0])), Err(none));

    let chain = |count: usize| {
        let mut bytes = std::vec![0, 0, 0, 1];
        for number in 1..=count {
            bytes.extend([1, 0, 0, u8::from(number < count)]);
        }
        payload_at(&header(0x34, &bytes))
    };
    assert_eq!(chain(8), Ok(Some(12 + 32)));
    let many = ParseError::new(44, Header::GtpuExtension, ErrorKind::TooMany { most: 8 });
    assert_eq!(chain(9), Err(many));
}

#[test]
fn other_messages_carry_no_packet_and_other_protocols_are_errors() {
    assert_eq!(payload_at(&[0x32, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0]), Ok(None));
    let kind = ErrorKind::Version { found: 2, expected: 1 };
    assert_eq!(payload_at(&header(0x50, &[])), Err(ParseError::new(0, Header::Gtpu, kind)));
    let kind = ErrorKind::Undefined { field: "protocol type", found: 0 };
    assert_eq!(payload_at(&header(0x20, &[])), Err(ParseError::new(0, Header::Gtpu, kind)));
    let kind = ErrorKind::Short { needed: 8, left: 7 };
    assert_eq!(payload_at(&header(0x30, &[])[..7]), Err(ParseError::new(0, Header::Gtpu, kind)));
}
