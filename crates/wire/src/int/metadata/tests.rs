//! The metadata of one hop: every bitmap, written into a dirty buffer and read back.

use std::vec::Vec;

use proptest::option;
use proptest::prelude::*;

use crate::int::instruction::Instructions;

use super::{Buffer, HopMetadata, Interfaces, Queue};

const FULL: HopMetadata = HopMetadata {
    node_id: Some(0x0102_0304),
    interfaces: Some(Interfaces { ingress: 0x0506, egress: 0x0708 }),
    hop_latency: Some(0x090a_0b0c),
    queue: Some(Queue { id: 0x0d, occupancy: 0x000e_0f10 }),
    ingress_timestamp: Some(0x1112_1314_1516_1718),
    egress_timestamp: Some(0x191a_1b1c_1d1e_1f20),
    ingress_interface_level2: Some(0x2122_2324),
    egress_interface_level2: Some(0x2526_2728),
    egress_utilization: Some(0x292a_2b2c),
    buffer: Some(Buffer { id: 0x2d, occupancy: 0x002e_2f30 }),
    checksum_complement: None,
};

/// The bytes an independent writer produces for `FULL`: they are numbered in the order of the bits.
fn expected(bitmap: u16) -> Vec<u8> {
    let fields = [1..5, 5..9, 9..13, 13..17, 17..25, 25..33, 33..41, 41..45, 45..49];
    let mut bytes = Vec::new();
    for bit in (0..15).filter(|bit| bitmap & 0x8000 >> bit != 0) {
        match fields.get(bit) {
            Some(field) => bytes.extend(field.clone()),
            None => bytes.extend([0xff; 4]),
        }
    }
    bytes
}

#[test]
fn every_bitmap_writes_its_fields_in_the_order_of_the_bits_and_reads_them_back() {
    // int-2.1/md-23, int-2.1/md-25, report-2.0/metadata-01
    for bitmap in 0..=u16::MAX {
        let instructions = Instructions(bitmap);
        let mut out = [0xa5; 80];
        let written = FULL.write(instructions, &mut out);
        let expected = expected(bitmap);
        assert_eq!(out[..written], expected, "{bitmap:#06x}");
        assert_eq!(out[written..], [0xa5; 80][written..], "{bitmap:#06x}");
        let read = HopMetadata::read(instructions, &out[..written]);
        let answered = read.available(instructions);
        let known = instructions.without(Instructions::RESERVED | Instructions::CHECKSUM_COMPLEMENT);
        assert_eq!(answered, known, "{bitmap:#06x}");
        let mut again = [0xa5; 80];
        assert_eq!(read.write(instructions, &mut again), written);
        assert_eq!(again, out, "{bitmap:#06x}");
    }
}

#[test]
fn what_is_not_available_is_all_ones_over_its_whole_length() {
    // int-2.1/md-24
    for bitmap in 0..=u16::MAX {
        let instructions = Instructions(bitmap).without(Instructions::CHECKSUM_COMPLEMENT);
        let mut out = [0xa5; 80];
        let written = HopMetadata::default().write(instructions, &mut out);
        assert_eq!(written, instructions.words().bytes(), "{bitmap:#06x}");
        assert!(out[..written].iter().all(|byte| *byte == 0xff), "{bitmap:#06x}");
        assert_eq!(HopMetadata::read(instructions, &out), HopMetadata::default(), "{bitmap:#06x}");
    }
}

#[test]
fn a_field_of_two_halves_may_be_half_available() {
    let half = HopMetadata { egress_interface_level2: Some(7), ..HopMetadata::default() };
    let mut out = [0xa5; 8];
    assert_eq!(half.write(Instructions::LEVEL2_INTERFACES, &mut out), 8);
    assert_eq!(out, [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 7]);
    assert_eq!(HopMetadata::read(Instructions::LEVEL2_INTERFACES, &out), half);
    assert_eq!(half.available(Instructions::LEVEL2_INTERFACES), Instructions::LEVEL2_INTERFACES);
}

#[test]
fn occupancy_past_24_bits_is_written_as_the_largest() {
    let queue = Some(Queue { id: 1, occupancy: 0x0100_0000 });
    let mut out = [0xa5; 4];
    HopMetadata { queue, ..HopMetadata::default() }.write(Instructions::QUEUE, &mut out);
    assert_eq!(out, [1, 0xff, 0xff, 0xff]);
}

#[test]
fn writing_stops_where_the_buffer_is_full() {
    let mut out = [0xa5; 11];
    let wanted = Instructions::NODE_ID | Instructions::INGRESS_TIMESTAMP;
    assert_eq!(FULL.write(wanted, &mut out), 4);
    assert_eq!(out, [1, 2, 3, 4, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5]);
}

#[test]
fn fields_that_are_cut_are_not_available() {
    let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    let read = HopMetadata::read(Instructions::NODE_ID | Instructions::EGRESS_TIMESTAMP, &bytes);
    assert_eq!(read, HopMetadata { node_id: Some(0x0102_0304), ..HopMetadata::default() });
}

proptest! {
    #[test]
    fn any_metadata_reads_back_as_it_was_written(metadata in metadata(), bitmap in any::<u16>()) {
        let instructions = Instructions(bitmap);
        let mut out = [0xa5; 80];
        let written = metadata.write(instructions, &mut out);
        prop_assert_eq!(HopMetadata::read(instructions, &out[..written]).available(instructions), {
            metadata.available(instructions)
        });
        let mut again = [0xa5; 80];
        prop_assert_eq!(HopMetadata::read(instructions, &out[..written]).write(instructions, &mut again), written);
        prop_assert_eq!(again, out);
    }
}

fn metadata() -> impl Strategy<Value = HopMetadata> {
    let word = || option::of(0..u32::MAX);
    let long = || option::of(0..u64::MAX);
    let filled = || option::of((0..0xff_u8, 0..0x00ff_ffff_u32));
    (
        word(),
        option::of((0..0xffff_u16, any::<u16>())),
        word(),
        filled(),
        long(),
        long(),
        word(),
        word(),
        filled(),
    )
        .prop_map(
            |(node_id, interfaces, hop_latency, queue, ingress, egress, level2, utilization, buffer)| {
                HopMetadata {
                    node_id,
                    interfaces: interfaces.map(|(ingress, egress)| Interfaces { ingress, egress }),
                    hop_latency,
                    queue: queue.map(|(id, occupancy)| Queue { id, occupancy }),
                    ingress_timestamp: ingress,
                    egress_timestamp: egress,
                    ingress_interface_level2: level2,
                    egress_interface_level2: level2,
                    egress_utilization: utilization,
                    buffer: buffer.map(|(id, occupancy)| Buffer { id, occupancy }),
                    checksum_complement: None,
                }
            },
        )
}
