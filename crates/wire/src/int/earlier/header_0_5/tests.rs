//! Every field of the header of 0.5 is where the figure has it.

use zerocopy::{FromBytes, IntoBytes};

use super::HeaderV0_5;

#[test]
fn a_source_writes_the_number_of_instructions_and_no_hop() {
    // int-0.5/md-05
    assert_eq!(HeaderV0_5::new(0x9000, 16).as_bytes(), [0, 2, 16, 0, 0x90, 0, 0, 0]);
    assert_eq!(HeaderV0_5::new(0xffff, 1).instruction_count(), 16);
}

#[test]
fn every_bit_of_the_first_byte_is_its_own_field() {
    // int-0.5/md-01
    for byte in 0..=u8::MAX {
        let header = HeaderV0_5::read_from_bytes(&[byte, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        assert_eq!((header.version(), header.replication()), (byte >> 4, byte >> 2 & 3));
        let flags = (header.copy(), header.max_hop_count_exceeded());
        assert_eq!(flags, (byte & 0x02 != 0, byte & 0x01 != 0));
        assert!(header.reserved_is_zero());
    }
}

#[test]
fn flags_and_counts_are_set_alone() {
    let mut header = HeaderV0_5::new(0xff00, 3);
    header.set_max_hop_count_exceeded();
    header.set_total_hop_count(3);
    assert_eq!(header.as_bytes(), [0x01, 8, 3, 3, 0xff, 0, 0, 0]);
    assert_eq!((header.max_hop_count(), header.total_hop_count()), (3, 3));
    assert_eq!((header.instruction_count(), header.instruction_bitmap()), (8, 0xff00));
}

#[test]
fn the_instruction_count_has_5_bits() {
    for byte in 0..=u8::MAX {
        let header = HeaderV0_5::read_from_bytes(&[0, byte, 0, 0, 0, 0, 0, 0]).unwrap();
        assert_eq!((header.instruction_count(), header.reserved_is_zero()), (byte & 0x1f, byte < 0x20));
    }
}

#[test]
fn replication_and_copy_are_set_alone() {
    let mut header = HeaderV0_5::new(0xff00, 3);
    let first = |header: &HeaderV0_5| header.as_bytes()[0];
    header.set_replication(7);
    assert_eq!((first(&header), header.replication()), (0x0c, 3));
    header.set_replication(0);
    header.set_copy();
    assert_eq!((first(&header), header.copy()), (0x02, true));
}
