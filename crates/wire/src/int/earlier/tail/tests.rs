//! The fields of the tail.

use zerocopy::{FromBytes, IntoBytes};

use super::Tail;

#[test]
fn a_tail_is_written_as_it_is_drawn() {
    // int-0.5/l4-02
    assert_eq!(Tail::new(6, 0x1234, 0x2e).as_bytes(), [6, 0x12, 0x34, 0x2e]);
    assert_eq!(Tail::new(17, 22, 0xff).as_bytes(), [17, 0, 22, 0x3f], "6 bits are kept");
}

#[test]
fn a_byte_above_63_is_no_dscp() {
    for byte in 0..=u8::MAX {
        let tail = Tail::read_from_bytes(&[6, 0, 22, byte]).unwrap();
        assert_eq!(tail.dscp(), (byte < 64).then_some(byte));
        assert_eq!((tail.protocol, tail.destination_port()), (6, 22));
    }
}
