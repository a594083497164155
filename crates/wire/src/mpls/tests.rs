//! Label stacks of every depth.

use crate::error::{ErrorKind, Header, ParseError};
use crate::view::view;

use super::{LabelStackEntry, is_mpls, payload};

/// `count` entries; the last is the bottom.
fn stack(count: usize) -> std::vec::Vec<u8> {
    (1..=count).flat_map(|number| [0, 6, 0x50 | u8::from(number == count), 64]).collect()
}

#[test]
fn an_entry_has_a_label_of_20_bits_and_a_bottom_bit() {
    let entry: &LabelStackEntry = view(&[0xab, 0xcd, 0xee, 1], 0, Header::Mpls).unwrap();
    assert_eq!((entry.label(), entry.is_bottom()), (0xabcde, false));
    let entry: &LabelStackEntry = view(&[0xab, 0xcd, 0xef, 1], 0, Header::Mpls).unwrap();
    assert!(entry.is_bottom());
}

#[test]
fn the_payload_starts_behind_the_bottom_of_the_stack() {
    for count in 1..=8 {
        assert_eq!(payload(&stack(count), 0), Ok(count * 4));
    }
    let many = ParseError::new(32, Header::Mpls, ErrorKind::TooMany { most: 8 });
    assert_eq!(payload(&stack(9), 0), Err(many));
}

#[test]
fn a_stack_without_a_bottom_is_short() {
    let short = ParseError::new(8, Header::Mpls, ErrorKind::Short { needed: 4, left: 3 });
    assert_eq!(payload(&stack(3)[..11], 0), Err(short));
}

#[test]
fn two_ether_types_announce_labels() {
    let announce: std::vec::Vec<u16> = (0..=u16::MAX).filter(|ethertype| is_mpls(*ethertype)).collect();
    assert_eq!(announce, [0x8847, 0x8848]);
}
