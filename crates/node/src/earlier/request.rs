//! What the header of a packet requests of a hop.

use inband_wire::Words;
use inband_wire::int::Instructions;
use inband_wire::int::earlier::{HopByHop, InstructionSet, Layout};

/// The header fields that determine what a hop adds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(super) layout: Layout,
    pub(super) bitmap: u16,
    pub(super) hop: Words,
    /// Remaining hop count.
    pub(super) left: u8,
    /// Whether the stack is empty.
    pub(super) is_first: bool,
}

impl Request {
    pub(super) const fn of(int: &HopByHop<'_>) -> Self {
        Self {
            layout: int.layout(),
            bitmap: int.instruction_bitmap,
            hop: int.hop_ml,
            left: int.remaining_hop_count(),
            is_first: int.hop_count() == 0,
        }
    }

    /// The checksum complement, if requested: only 1.0 has it, at the same bit as 2.1.
    pub(super) const fn complement(&self) -> Instructions {
        match self.layout.instructions() {
            InstructionSet::V1_0 => Instructions(self.bitmap & Instructions::CHECKSUM_COMPLEMENT.0),
            InstructionSet::V0_5 | InstructionSet::V2016 => Instructions(0),
        }
    }
}
