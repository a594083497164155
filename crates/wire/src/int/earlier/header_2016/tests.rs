//! Every field of the header of 2016 is where the figure has it.

use zerocopy::{FromBytes, IntoBytes};

use super::HeaderV2016;

#[test]
fn a_source_writes_the_number_of_instructions_and_no_hop() {
    // int-2016/md-01, int-2016/md-07, int-2016/md-14
    assert_eq!(HeaderV2016::new(0x9000, 16).as_bytes(), [0, 2, 16, 0, 0x90, 0, 0, 0]);
    assert_eq!(HeaderV2016::new(0xffff, 1).instruction_count(), 16);
}

#[test]
fn every_bit_of_the_first_byte_is_its_own_field() {
    for byte in 0..=u8::MAX {
        let header = HeaderV2016::read_from_bytes(&[byte, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        assert_eq!((header.version(), header.replication()), (byte >> 6, byte >> 4 & 3));
        let flags = (header.copy(), header.max_hop_count_exceeded());
        assert_eq!(flags, (byte & 0x08 != 0, byte & 0x04 != 0));
        assert_eq!(header.reserved_flags_are_zero(), byte & 0x03 == 0);
    }
}

#[test]
fn flags_and_counts_are_set_alone() {
    let mut header = HeaderV2016::new(0xff00, 3);
    header.set_max_hop_count_exceeded();
    header.set_total_hop_count(3);
    assert_eq!(header.as_bytes(), [0x04, 8, 3, 3, 0xff, 0, 0, 0]);
    assert_eq!((header.max_hop_count(), header.total_hop_count()), (3, 3));
    assert_eq!((header.instruction_count(), header.instruction_bitmap()), (8, 0xff00));
}

#[test]
fn the_instruction_count_has_5_bits() {
    for byte in 0..=u8::MAX {
        let header = HeaderV2016::read_from_bytes(&[0, byte, 0, 0, 0, 0, 0, 0]).unwrap();
        assert_eq!((header.instruction_count(), header.reserved_flags_are_zero()), (byte & 0x1f, true));
    }
}

#[test]
fn replication_and_copy_are_set_alone() {
    let mut header = HeaderV2016::new(0xff00, 3);
    let first = |header: &HeaderV2016| header.as_bytes()[0];
    header.set_replication(7);
    assert_eq!((first(&header), header.replication()), (0x30, 3));
    header.set_replication(0);
    header.set_copy();
    assert_eq!((first(&header), header.copy()), (0x08, true));
}
