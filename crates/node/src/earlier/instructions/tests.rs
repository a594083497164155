//! Instruction bits of each version before 2.0.
#![allow(clippy::unwrap_used, reason = "a configuration error fails the test")]

use inband_wire::int::earlier::Layout;
use inband_wire::int::{Instructions, Version};

use super::{bitmap, in_2_1};
use crate::config::{Instruction, InstructionList};

/// Bits of 1.0, 0.5 and 2016; 0: the version does not have the instruction.
const TABLE: [(Instruction, [u16; 3]); 13] = [
    (Instruction::NodeId, [0x8000, 0x8000, 0x8000]),
    (Instruction::Level1Interfaces, [0x4000, 0x4000, 0x4400]),
    (Instruction::HopLatency, [0x2000, 0x2000, 0x2000]),
    (Instruction::QueueOccupancy, [0x1000, 0x1000, 0x1000]),
    (Instruction::IngressTimestamp, [0x0800, 0x0800, 0x0800]),
    (Instruction::EgressTimestamp, [0x0400, 0x0400, 0]),
    (Instruction::Level2Interfaces, [0x0200, 0, 0]),
    (Instruction::EgressUtilization, [0x0100, 0x0100, 0x0100]),
    (Instruction::BufferOccupancy, [0, 0, 0]),
    (Instruction::ChecksumComplement, [0x0001, 0, 0]),
    (Instruction::IngressInterface, [0, 0, 0x4000]),
    (Instruction::EgressInterface, [0, 0, 0x0400]),
    (Instruction::QueueCongestion, [0, 0x0200, 0x0200]),
];
const VERSIONS: [Version; 3] = [Version::V1_0, Version::V0_5, Version::V2016];

fn list(instructions: &[Instruction]) -> InstructionList {
    instructions.iter().copied().collect()
}

#[test]
fn every_bit_of_2016_and_0_5_can_be_asked_for_alone() {
    // int-2016/md-02, int-0.5/md-02: bits 0 to 7 have an instruction each.
    for (at, bits) in [(1, 8), (2, 8)] {
        let alone = |bit: u16| TABLE.iter().any(|(_, of)| of[at] == bit);
        assert!((0..bits).all(|bit| alone(0x8000 >> bit)), "{:?}", VERSIONS[at]);
    }
}

#[test]
fn every_instruction_has_its_bits_or_is_refused_by_name() {
    for (instruction, bits) in TABLE {
        for (version, bits) in VERSIONS.into_iter().zip(bits) {
            match bitmap(version, &list(&[instruction])) {
                Ok(found) => assert_eq!(found, bits, "{version:?} {instruction:?}"),
                Err(error) => {
                    assert_eq!(bits, 0, "{version:?} {instruction:?}");
                    let text = error.to_string();
                    assert!(text.contains(instruction.name()) && text.contains(version.name()), "{text}");
                }
            }
        }
    }
}

#[test]
fn a_report_is_asked_for_what_the_bitmap_asks_for() {
    for (instruction, bits) in TABLE {
        for (version, bits) in VERSIONS.into_iter().zip(bits).filter(|(_, bits)| *bits != 0) {
            let expected = match instruction {
                Instruction::IngressInterface | Instruction::EgressInterface => Instructions::INTERFACES,
                other => other.bit(),
            };
            assert_eq!(in_2_1(Layout::of(version).unwrap(), bits), expected);
        }
    }
    // Congestion status, and the second half of the ports of 2016.
    assert_eq!(in_2_1(Layout::V0_5, 0x02ff).0, 0);
    assert_eq!(in_2_1(Layout::V2016, 0x0200).0, 0);
}

#[test]
fn a_header_asks_for_something() {
    for version in VERSIONS {
        let error = bitmap(version, &list(&[])).unwrap_err();
        assert_eq!(error.to_string(), "source.instructions is empty, expected at least one instruction");
    }
}

#[test]
fn host_int_asks_for_the_same_four_always() {
    let four = [
        Instruction::NodeId,
        Instruction::Level1Interfaces,
        Instruction::IngressTimestamp,
        Instruction::EgressTimestamp,
    ];
    let default = list(&[Instruction::NodeId, Instruction::QueueOccupancy]);
    assert_eq!(bitmap(Version::HostInt0_5, &list(&four)).unwrap(), 0xcc00);
    assert_eq!(bitmap(Version::HostInt0_5, &default).unwrap(), 0xcc00);
    assert_eq!(
        bitmap(Version::HostInt0_5, &list(&[Instruction::NodeId, Instruction::HopLatency]))
            .unwrap_err()
            .to_string(),
        "source.instructions = \"node-id, hop-latency\" is not supported by this node; supported: node-id, \
         level1-interfaces, ingress-timestamp, egress-timestamp with int_version = \"host-0.5\""
    );
}
