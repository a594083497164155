//! Every field of the header of 1.0 is where the figure has it.

use zerocopy::{FromBytes, IntoBytes};

use crate::words::Words;

use super::HeaderV1_0;

#[test]
fn a_source_writes_what_the_example_shows() {
    let header = HeaderV1_0::new(0x9000, Words::new(2), 6);
    assert_eq!(header.as_bytes(), [0x10, 0, 2, 6, 0x90, 0, 0, 0]);
    assert_eq!(HeaderV1_0::new(0, Words::new(40), 0).hop_ml(), Words::new(31));
}

#[test]
fn every_bit_of_the_first_byte_is_its_own_field() {
    // int-1.0/md-01
    for byte in 0..=u8::MAX {
        let header = HeaderV1_0::read_from_bytes(&[byte, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        let flags = (header.copy(), header.max_hop_count_exceeded());
        assert_eq!((header.version(), header.replication()), (byte >> 4, byte >> 2 & 3));
        assert_eq!(flags, (byte & 2 != 0, byte & 1 != 0));
    }
}

#[test]
fn flags_and_counts_are_set_alone() {
    let mut header = HeaderV1_0::new(0xfc00, Words::new(6), 9);
    header.set_max_hop_count_exceeded();
    assert_eq!(header.as_bytes(), [0x11, 0, 6, 9, 0xfc, 0, 0, 0]);
    header.set_mtu_exceeded();
    header.set_remaining_hop_count(8);
    assert_eq!(header.as_bytes(), [0x11, 0x80, 6, 8, 0xfc, 0, 0, 0]);
    assert!(header.mtu_exceeded() && header.reserved_is_zero());
    assert_eq!((header.instruction_bitmap(), header.remaining_hop_count()), (0xfc00, 8));
}

#[test]
fn reserved_bits_are_seen() {
    for (at, byte) in [(1, 0x01), (1, 0x40), (2, 0x20), (2, 0x80)] {
        let mut bytes = [0x10, 0, 0, 0, 0, 0, 0, 0];
        bytes[at] = byte;
        let header = HeaderV1_0::read_from_bytes(&bytes).unwrap();
        assert!(!header.reserved_is_zero(), "byte {at} is {byte:#04x}");
    }
    let numbered = HeaderV1_0::read_from_bytes(&[0x10, 0, 0x1f, 0, 0, 0, 0x12, 0x34]).unwrap();
    assert_eq!((numbered.reserved(), numbered.hop_ml()), (0x1234, Words::new(31)));
    assert!(numbered.reserved_is_zero());
}

#[test]
fn replication_and_copy_are_set_alone() {
    let mut header = HeaderV1_0::new(0xff00, Words::new(9), 3);
    let first = |header: &HeaderV1_0| header.as_bytes()[0];
    header.set_replication(7);
    assert_eq!((first(&header), header.replication()), (0x1c, 3));
    header.set_replication(0);
    header.set_copy();
    assert_eq!((first(&header), header.copy()), (0x12, true));
}
