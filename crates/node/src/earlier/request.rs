//! What the header of a packet requests of a hop.

use inband_wire::Words;
use inband_wire::error::Header;
use inband_wire::int::earlier::{HeaderForm, HeaderV0_5, HeaderV1_0, HeaderV2016, InstructionSet, Layout};
use inband_wire::int::{Instructions, Location};
use inband_wire::view::view;

/// The header fields that determine what a hop adds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) layout: Layout,
    pub(super) bitmap: u16,
    /// Length of the metadata that each hop adds.
    pub(super) hop: Words,
    /// Remaining hop count.
    pub(super) left: u8,
    /// Whether no hop has added metadata; known of versions that count them.
    pub(super) is_first: bool,
}

impl Request {
    /// Reads the header at `location`, which was checked when it was found; `None` if it is truncated.
    pub(super) fn read(bytes: &[u8], location: &Location) -> Option<Self> {
        let layout = Layout::of_dialect(location.version, location.deviations)?;
        let at = location.header;
        let (bitmap, left, is_first) = match HeaderForm::of(location.version, location.deviations) {
            HeaderForm::V1_0 => {
                let header: &HeaderV1_0 = view(bytes, at, Header::IntMetadata).ok()?;
                (header.instruction_bitmap(), header.remaining_hop_count(), false)
            }
            HeaderForm::V0_5 => {
                let header: &HeaderV0_5 = view(bytes, at, Header::IntMetadata).ok()?;
                let (most, total) = (header.max_hop_count(), header.total_hop_count());
                (header.instruction_bitmap(), most.saturating_sub(total), total == 0)
            }
            HeaderForm::V2016 => {
                let header: &HeaderV2016 = view(bytes, at, Header::IntMetadata).ok()?;
                let (most, total) = (header.max_hop_count(), header.total_hop_count());
                (header.instruction_bitmap(), most.saturating_sub(total), total == 0)
            }
        };
        Some(Self { layout, bitmap, hop: layout.hop_words(bitmap), left, is_first })
    }

    /// The checksum complement, if requested: only 1.0 has it, at the same bit as 2.1.
    pub(super) const fn complement(&self) -> Instructions {
        match self.layout.instructions() {
            InstructionSet::V1_0 => Instructions(self.bitmap & Instructions::CHECKSUM_COMPLEMENT.0),
            InstructionSet::V0_5 | InstructionSet::V2016 => Instructions(0),
        }
    }
}
