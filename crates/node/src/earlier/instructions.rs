//! Instruction bitmaps of versions before 2.0.

use inband_wire::int::earlier::{InstructionSet, Layout, host_int};
use inband_wire::int::{Instructions, Version};

use crate::config::{Instruction, InstructionList};
use crate::error::ConfigError;

/// The bitmap by which a source of `version` requests `instructions`.
///
/// # Errors
/// An instruction that the version does not have, or an empty list.
pub(crate) fn bitmap(version: Version, instructions: &InstructionList) -> Result<u16, ConfigError> {
    let Some(layout) = Layout::of(version) else { return Ok(instructions.bitmap().0) };
    if version == Version::HostInt0_5 {
        return host_int_bitmap(instructions);
    }
    let mut bitmap = 0;
    for instruction in Instruction::ALL.into_iter().filter(|one| instructions.contains(*one)) {
        bitmap |= match bits(layout, instruction) {
            0 => return Err(unsupported(version, instruction.name(), known(layout))),
            bits => bits,
        };
    }
    if bitmap == 0 {
        // An empty bitmap could not be distinguished from payload.
        return Err(ConfigError::out_of_range("source.instructions", "empty", "at least one instruction"));
    }
    Ok(bitmap)
}

/// The instructions of 2.1 equivalent to `bitmap`, with both ports where 2016 requests one; congestion status
/// has no equivalent.
pub(crate) fn in_2_1(layout: Layout, bitmap: u16) -> Instructions {
    let asks = |instruction: &Instruction| bits(layout, *instruction) & bitmap != 0;
    Instruction::ALL.into_iter().filter(asks).collect::<InstructionList>().bitmap()
}

/// Checks that a list names only instructions of 2.1, as reports and packets from 2.0 on require.
///
/// # Errors
/// An instruction that exists only in an earlier version.
pub(crate) fn check_2_1(key: &str, instructions: &InstructionList) -> Result<(), ConfigError> {
    let Some(found) = instructions.first_before_2() else { return Ok(()) };
    let known: Vec<_> = Instruction::ALL
        .into_iter()
        .filter(|instruction| instruction.bit() != Instructions(0))
        .map(Instruction::name)
        .collect();
    Err(ConfigError::unsupported(key, found.name(), &known.join(", ")))
}

/// Host-INT requests the same four in every packet.
fn host_int_bitmap(instructions: &InstructionList) -> Result<u16, ConfigError> {
    let is_default = *instructions == crate::config::SourceConfig::default().instructions;
    let asked = Instruction::ALL.into_iter().filter(|one| instructions.contains(*one));
    if is_default || asked.map(|one| bits(Layout::V0_5, one)).eq([0x8000, 0x4000, 0x0800, 0x0400]) {
        return Ok(host_int::INSTRUCTION_BITMAP);
    }
    let found = Instruction::ALL.into_iter().filter(|one| instructions.contains(*one)).map(Instruction::name);
    let supported = [0x8000, 0x4000, 0x0800, 0x0400];
    let supported = Instruction::ALL.into_iter().filter(|one| supported.contains(&bits(Layout::V0_5, *one)));
    Err(unsupported(Version::HostInt0_5, &found.collect::<Vec<_>>().join(", "), supported))
}

/// The bits that request `instruction`; 0 if the version does not have it.
const fn bits(layout: Layout, instruction: Instruction) -> u16 {
    match (instruction, layout.instructions()) {
        (Instruction::NodeId, _) => 0x8000,
        // 2016 requests ingress and egress port separately.
        (Instruction::Level1Interfaces, InstructionSet::V2016) => 0x4400,
        (Instruction::IngressInterface, InstructionSet::V2016) => 0x4000,
        (Instruction::EgressInterface, InstructionSet::V2016) => 0x0400,
        (Instruction::QueueCongestion, InstructionSet::V2016 | InstructionSet::V0_5) => 0x0200,
        (Instruction::Level1Interfaces, _) => 0x4000,
        (Instruction::HopLatency, _) => 0x2000,
        (Instruction::QueueOccupancy, _) => 0x1000,
        (Instruction::IngressTimestamp, _) => 0x0800,
        (Instruction::EgressTimestamp, InstructionSet::V1_0 | InstructionSet::V0_5) => 0x0400,
        (Instruction::Level2Interfaces, InstructionSet::V1_0) => 0x0200,
        (Instruction::EgressUtilization, _) => 0x0100,
        (Instruction::ChecksumComplement, InstructionSet::V1_0) => 0x0001,
        _ => 0,
    }
}

fn known(layout: Layout) -> impl Iterator<Item = Instruction> {
    Instruction::ALL.into_iter().filter(move |instruction| bits(layout, *instruction) != 0)
}

fn unsupported(version: Version, found: &str, known: impl Iterator<Item = Instruction>) -> ConfigError {
    let known: Vec<_> = known.map(Instruction::name).collect();
    let supported = format!("{} with int_version = \"{}\"", known.join(", "), version.name());
    ConfigError::unsupported("source.instructions", found, &supported)
}

#[cfg(test)]
mod tests;
