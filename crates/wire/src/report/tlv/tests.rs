//! TLVs: every type, and lengths up to and past the end of the contents.

use std::vec::Vec;

use crate::error::{ErrorKind, Header, ParseError};
use crate::layers::Link;

use super::{Tlv, TlvType, Tlvs};

fn tlvs(bytes: &[u8]) -> Vec<Result<Tlv<'_>, ParseError>> {
    Tlvs::new(bytes).collect()
}

#[test]
fn types_are_numbered_apart_from_inner_types() {
    // report-2.0/tlv-02
    for code in 0..16 {
        let bytes = [code << 4 | 0x0f, 1, 0x12, 0x34, 1, 2, 3, 4];
        let tlv = tlvs(&bytes)[0].unwrap();
        let (expected, link) = match code {
            0 => (TlvType::DomainExtension, None),
            1 => (TlvType::Ethernet, Some(Link::Ethernet)),
            2 => (TlvType::Ipv4, Some(Link::Ip)),
            3 => (TlvType::Ipv6, Some(Link::Ip)),
            other => (TlvType::Unknown(other), None),
        };
        assert_eq!((tlv.tlv_type, tlv.template, tlv.data), (expected, 0x1234, &[1, 2, 3, 4][..]));
        assert_eq!(tlv.packet().map(|(link, _)| link), link, "TLVType {code}");
    }
}

#[test]
fn tlvs_follow_each_other_until_the_contents_end() {
    // report-2.0/tlv-01, report-2.0/tlv-03
    let bytes = [&[0x00, 0, 0, 0][..], &[0x10, 2, 0, 0], &[7; 8], &[0xf0, 0, 0, 0]].concat();
    let found: Vec<_> = tlvs(&bytes).into_iter().map(|tlv| tlv.unwrap()).collect();
    let places: Vec<_> = found.iter().map(|tlv| (tlv.data_at, tlv.data.len())).collect();
    assert_eq!(places, [(4, 0), (8, 8), (20, 0)]);
    assert_eq!(tlvs(&[]).len(), 0);
}

#[test]
fn a_length_past_the_contents_is_an_error_and_the_last() {
    // report-2.0/tlv-03
    for (length, is_ok) in [(1, true), (2, false), (255, false)] {
        let bytes = [0x10, length, 0, 0, 1, 2, 3, 4];
        let found = tlvs(&bytes);
        assert_eq!((found.len(), found[0].is_ok()), (1, is_ok), "{length} words");
        if !is_ok {
            let kind = ErrorKind::TooLarge { field: "TLVLength", found: length.into(), most: 1 };
            assert_eq!(found[0].unwrap_err(), ParseError::new(0, Header::Tlv, kind));
        }
    }
}

#[test]
fn a_header_is_short_one_byte_before_it_ends() {
    let short = ErrorKind::Short { needed: 4, left: 3 };
    assert_eq!(tlvs(&[0, 0, 0, 0, 0x10, 0, 0])[1].unwrap_err(), ParseError::new(4, Header::Tlv, short));
}
