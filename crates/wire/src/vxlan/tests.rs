//! VXLAN headers with and without GPE.

use crate::error::Header;
use crate::view::view;

use super::VxlanHeader;

fn header(bytes: [u8; 8]) -> VxlanHeader {
    *view(&bytes, 0, Header::Vxlan).unwrap()
}

#[test]
fn next_protocol_is_there_only_with_the_p_bit() {
    // int-2.1/vxlan-01, int-2016/vxlan-01
    for flags in 0..=u8::MAX {
        let header = header([flags, 0, 0, 0x82, 0, 0, 0, 0]);
        assert_eq!(header.next_protocol(), (flags & 0x04 != 0).then_some(0x82), "{flags:#04x}");
    }
}

#[test]
fn setting_and_clearing_next_protocol_comes_back_to_the_same_bytes() {
    let plain = header([0x08, 0, 0, 0, 0x12, 0x34, 0x56, 0]);
    assert!(plain.is_plain());
    let mut changed = plain;
    changed.set_next_protocol(0x82);
    assert_eq!(
        (changed.next_protocol(), changed.is_plain(), changed.vni()),
        (Some(0x82), false, 0x0012_3456)
    );
    changed.clear_next_protocol();
    assert_eq!((changed.is_plain(), changed.sum()), (true, plain.sum()));
}

#[test]
fn reserved_bits_make_a_header_not_plain() {
    for (at, byte) in [(0, 0x09), (0, 0x00), (1, 1), (2, 1), (3, 1)] {
        let mut bytes = [0x08, 0, 0, 0, 1, 2, 3, 0];
        bytes[at] = byte;
        assert!(!header(bytes).is_plain(), "byte {at} is {byte:#04x}");
    }
}
