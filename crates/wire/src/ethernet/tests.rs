//! Ethernet frames with VLAN tags up to the limit.

use std::vec::Vec;

use inband_testkit::packet;

use crate::error::{ErrorKind, Header, ParseError};

use super::{EthernetPayload, payload};

fn tagged(tags: usize) -> Vec<u8> {
    let kinds = [0x8100, 0x88a8, 0x9100, 0x9200];
    (0..tags).fold(packet(), |packet, index| packet.tag(kinds[index % 4], 5)).build()
}

#[test]
fn payload_follows_header_and_up_to_eight_tags_of_every_kind() {
    for tags in 0..=8 {
        let expected = EthernetPayload { ethertype: super::IPV4, at: 14 + 4 * tags };
        assert_eq!(payload(&tagged(tags), 0), Ok(expected), "{tags} tags");
    }
}

#[test]
fn nine_tags_are_too_many() {
    let kind = ErrorKind::TooMany { most: 8 };
    assert_eq!(payload(&tagged(9), 0), Err(ParseError::new(14 + 8 * 4, Header::Vlan, kind)));
}

#[test]
fn header_and_tags_are_short_one_byte_before_they_end() {
    let frame = tagged(2);
    let short =
        |at, header, needed, left| Err(ParseError::new(at, header, ErrorKind::Short { needed, left }));
    assert_eq!(payload(&frame[..13], 0), short(0, Header::Ethernet, 14, 13));
    assert_eq!(payload(&frame[..17], 0), short(14, Header::Vlan, 4, 3));
    assert_eq!(payload(&frame[..21], 0), short(18, Header::Vlan, 4, 3));
    assert!(payload(&frame[..22], 0).is_ok());
}

#[test]
fn a_frame_inside_another_starts_where_it_is_said_to() {
    let frame = [&[0xa5; 7][..], &tagged(1)].concat();
    assert_eq!(payload(&frame, 7), Ok(EthernetPayload { ethertype: super::IPV4, at: 7 + 18 }));
}
