//! All 65,536 instruction bitmaps.

use inband_testkit::int::words_of;

use super::Instructions;

#[test]
fn every_bitmap_asks_for_one_word_a_bit_and_two_for_bits_4_5_and_6() {
    // int-2.1/md-12, int-2.1/mx-04
    for bitmap in 0..=u16::MAX {
        assert_eq!(Instructions(bitmap).words().count(), words_of(bitmap), "{bitmap:#06x}");
    }
    assert_eq!(Instructions(u16::MAX).words().count(), 19);
}

#[test]
fn the_named_bits_and_the_reserved_ones_make_up_the_bitmap() {
    let named = [
        Instructions::NODE_ID,
        Instructions::INTERFACES,
        Instructions::HOP_LATENCY,
        Instructions::QUEUE,
        Instructions::INGRESS_TIMESTAMP,
        Instructions::EGRESS_TIMESTAMP,
        Instructions::LEVEL2_INTERFACES,
        Instructions::EGRESS_UTILIZATION,
        Instructions::BUFFER,
    ];
    for (bit, instruction) in named.iter().enumerate() {
        assert_eq!(instruction.0, 0x8000 >> bit, "bit {bit}");
    }
    let rest = Instructions::RESERVED | Instructions::CHECKSUM_COMPLEMENT;
    let all = named.iter().fold(rest, |all, bit| all | *bit);
    assert_eq!((all.0, Instructions::RESERVED.0, Instructions::CHECKSUM_COMPLEMENT.0), (0xffff, 0x007e, 1));
}

#[test]
fn containing_means_all_bits_and_intersecting_means_any() {
    let both = Instructions::NODE_ID | Instructions::QUEUE;
    assert!(both.contains(Instructions::NODE_ID) && !Instructions::NODE_ID.contains(both));
    assert!(both.intersects(Instructions::NODE_ID) && !both.intersects(Instructions::BUFFER));
    assert_eq!(both.without(Instructions::NODE_ID) & both, Instructions::QUEUE);
}
