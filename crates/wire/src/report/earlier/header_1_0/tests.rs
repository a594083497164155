//! Every field of the header of 1.0, and every combination of RepMdBits.

use zerocopy::{FromBytes, IntoBytes};

use crate::int::instruction::Instructions;

use super::{HeaderV1_0, RepMdBits};

#[test]
fn a_header_is_written_as_it_is_drawn() {
    // report-1.0/header-01
    let all = RepMdBits::of(Instructions(0xffff), true);
    let mut header = HeaderV1_0::new(1, all, 5, 3, 0x65, 0x3b9a_ca00);
    header.set_flags(true, true, true);
    let expected = [0x1a, 0x3f, 0x81, 0xc5, 0, 0, 0, 3, 0, 0, 0, 0x65, 0x3b, 0x9a, 0xca, 0];
    assert_eq!(header.as_bytes(), expected);
    assert_eq!((header.version(), header.length().count(), header.next_proto()), (1, 10, 1));
    assert_eq!((header.node_id(), header.sequence(), header.ingress_timestamp()), (3, 0x65, 0x3b9a_ca00));
    assert_eq!((header.hw_id(), header.rep_md_bits()), (5, all));
}

#[test]
fn every_flag_is_its_own_bit() {
    for bits in 0..8_u8 {
        let (dropped, queue, flow) = (bits & 4 != 0, bits & 2 != 0, bits & 1 != 0);
        let mut header = HeaderV1_0::new(7, RepMdBits::default(), 0xff, 0, 0, 0);
        header.set_flags(true, true, true);
        header.set_flags(dropped, queue, flow);
        assert_eq!(header.as_bytes()[..4], [0x14, 0xe0, bits >> 2, (bits & 3) << 6 | 0x3f]);
        assert_eq!(
            (header.dropped(), header.congested_queue(), header.tracked_flow()),
            (dropped, queue, flow)
        );
    }
}

#[test]
fn every_combination_of_bits_is_as_long_as_it_says() {
    // report-1.0/header-02
    for bits in 0..64_u8 {
        let [high, low] = (u16::from(bits) << 7).to_be_bytes();
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&[0x10, high, low, 0]);
        let read = HeaderV1_0::read_from_bytes(&bytes).unwrap().rep_md_bits();
        assert_eq!(read, RepMdBits(bits));
        assert_eq!(u32::from(read.words().count()), bits.count_ones());
        assert!(
            read.iter()
                .map(|bit| 0x20 >> bit)
                .eq((0..6).map(|bit| 0x20 >> bit).filter(|bit| bits & bit != 0))
        );
        assert_eq!(RepMdBits::of(read.instructions(), read.has_drop()), read);
    }
}

#[test]
fn bits_stand_for_instructions() {
    // report-1.0/header-03
    let all = [
        (0x20, Instructions::INTERFACES),
        (0x10, Instructions::HOP_LATENCY),
        (0x08, Instructions::QUEUE),
        (0x04, Instructions::EGRESS_TIMESTAMP),
        (0x02, Instructions::default()),
        (0x01, Instructions::EGRESS_UTILIZATION),
    ];
    for (bit, instruction) in all {
        assert_eq!(RepMdBits(bit).instructions(), instruction);
        assert_eq!(RepMdBits(bit).has_drop(), bit == 0x02);
    }
}
