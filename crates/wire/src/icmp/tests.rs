//! Messages as the RFCs draw them, and every type of both protocols.

use zerocopy::IntoBytes;

use super::{PROTOCOL, PacketTooBig, V6_PROTOCOL, may_be_error};

#[test]
fn the_mtu_is_where_the_rfcs_put_it() {
    assert_eq!(PacketTooBig::v4(1400).as_bytes(), [3, 4, 0, 0, 0, 0, 0x05, 0x78]);
    assert_eq!(PacketTooBig::v6(1400).as_bytes(), [2, 0, 0, 0, 0, 0, 0x05, 0x78]);
    assert_eq!(PacketTooBig::v6(1400).mtu(), 1400);
}

#[test]
fn errors_are_told_from_questions_and_answers() {
    let errors =
        |protocol| -> usize { (0..=u8::MAX).filter(|kind| may_be_error(protocol, Some(*kind))).count() };
    assert_eq!((errors(PROTOCOL), errors(V6_PROTOCOL), errors(6)), (5, 129, 0));
    for (protocol, kind, expected) in [(PROTOCOL, 8, false), (PROTOCOL, 3, true), (V6_PROTOCOL, 2, true)] {
        assert_eq!(may_be_error(protocol, Some(kind)), expected);
    }
    assert!(!may_be_error(V6_PROTOCOL, Some(128)) && may_be_error(V6_PROTOCOL, Some(137)));
    assert!(may_be_error(PROTOCOL, None) && may_be_error(V6_PROTOCOL, None) && !may_be_error(17, None));
}
