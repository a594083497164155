//! Metadata headers and stacks of the versions before 2.0.

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::dialect::{Deviation, Deviations};
use crate::int::domain::set_bits;
use crate::int::earlier::header_0_5::HeaderV0_5;
use crate::int::earlier::header_1_0::HeaderV1_0;
use crate::int::earlier::header_2016::HeaderV2016;
use crate::int::earlier::host_int;
use crate::int::earlier::layout::{InstructionSet, Layout};
use crate::int::earlier::metadata::{Metadata, not_available};
use crate::int::earlier::recognise::HEADER_BYTES;
use crate::int::earlier::tail::{TAIL_BYTES, Tail};
use crate::int::location::{Encapsulation, Location};
use crate::int::version::Version;
use crate::view::{short, view};
use crate::words::Words;

/// How a header limits the number of hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HopCounts {
    /// 1.0: number of further hops that may add metadata.
    Remaining(u8),
    /// 0.5 and 2016: total number of hops that may add metadata, and number that have.
    Total {
        /// Max Hop Count.
        most: u8,
        /// Total Hop Count.
        total: u8,
    },
}

/// A metadata header of a version before 2.0 with its stack and what follows, in place.
#[derive(Clone, Copy, Debug)]
pub struct HopByHop<'a> {
    /// The version of the format.
    pub version: Version,
    /// The version field: 4 bits, 2 bits in 2016.
    pub version_field: u8,
    /// Rep: the requested replication, 0 to 3.
    pub replication: u8,
    /// C: the packet is a copy that a node made.
    pub copy: bool,
    /// E: a node could not add metadata because no hop was left.
    pub max_hop_count_exceeded: bool,
    /// M: a node could not add metadata because of its egress MTU; `None` before 1.0.
    pub mtu_exceeded: Option<bool>,
    /// The limit on the number of hops.
    pub hop_counts: HopCounts,
    /// The instruction bitmap; the meaning of its bits depends on the version.
    pub instruction_bitmap: u16,
    /// Length of the metadata each hop adds.
    pub hop_ml: Words,
    /// Host-INT: number of the packet in its flow; GEANT: 16-bit number of the packet; `None` in all other
    /// versions, or when it is truncated.
    pub sequence: Option<u32>,
    /// 0.5 and Host-INT after TCP or UDP: the tail; `None` when it is absent or truncated.
    pub tail: Option<&'a Tail>,
    layout: Layout,
    stack: &'a [u8],
    hop_count: usize,
}

impl<'a> HopByHop<'a> {
    /// Reads the header at `location`, the stack after it, and what follows the stack.
    ///
    /// Bytes that end inside the stack give the complete hops.
    ///
    /// # Errors
    /// A header that is truncated or of another version, a hop length that contradicts the instruction
    /// bitmap, a stack whose length does not match its hops.
    pub fn parse(bytes: &'a [u8], location: &Location) -> Result<Self, ParseError> {
        Self::read(bytes, location, VersionField::Right)
    }

    /// Like [`Self::parse`], with the layout of `location.version` whatever the version field contains.
    ///
    /// # Errors
    /// Those of [`Self::parse`], except for the version.
    pub fn parse_any_version(bytes: &'a [u8], location: &Location) -> Result<Self, ParseError> {
        Self::read(bytes, location, VersionField::Any)
    }

    fn read(bytes: &'a [u8], location: &Location, version: VersionField) -> Result<Self, ParseError> {
        let at = location.header;
        let Some(layout) = Layout::of_dialect(location.version, location.deviations) else {
            let found = bytes.get(at).map_or(0, |first| first >> 4);
            return Err(ParseError::new(at, Header::IntMetadata, ErrorKind::Version { found, expected: 1 }));
        };
        let mut this = Self::header(bytes, location, layout, version)?;
        let stack_at = at + HEADER_BYTES;
        let behind = Behind::stack(location, &this);
        let Some(stack_length) = location.end.checked_sub(stack_at + behind.bytes()) else {
            let left = location.end.saturating_sub(at);
            return Err(short(at, Header::IntMetadata, HEADER_BYTES + behind.bytes(), left));
        };
        this.hop_count = this.count_hops(at, stack_length)?;
        let visible = bytes.get(stack_at..).unwrap_or_default();
        this.stack = visible.get(..stack_length).unwrap_or(visible);
        let mut rest = visible.get(stack_length..).unwrap_or_default();
        if behind.sequence {
            this.sequence = rest.first_chunk().map(|word| u32::from_be_bytes(*word));
            rest = rest.get(host_int::SEQUENCE_BYTES..).unwrap_or_default();
        }
        if behind.tail {
            this.tail = view(rest, 0, Header::IntTail).ok();
        }
        Ok(this)
    }

    fn header(
        bytes: &'a [u8],
        location: &Location,
        layout: Layout,
        version: VersionField,
    ) -> Result<Self, ParseError> {
        let at = location.header;
        let mut this = match HeaderForm::of(location.version, location.deviations) {
            HeaderForm::V1_0 => Self::of_1_0(view(bytes, at, Header::IntMetadata)?, location),
            HeaderForm::V0_5 => Self::of_0_5(view(bytes, at, Header::IntMetadata)?),
            HeaderForm::V2016 => Self::of_2016(view(bytes, at, Header::IntMetadata)?),
        };
        let fault = |kind| Err(ParseError::new(at, Header::IntMetadata, kind));
        let is_1_0 = layout.instructions() == InstructionSet::V1_0;
        let expected = u8::from(is_1_0);
        if this.version_field != expected && version == VersionField::Right {
            return fault(ErrorKind::Version { found: this.version_field, expected });
        }
        // 1.0 gives the length of a hop, earlier versions the number of instructions.
        let hop_words = layout.hop_words(this.instruction_bitmap);
        let bits = Words::new(this.instruction_bitmap.count_ones().to_le_bytes()[0]);
        let asked = if is_1_0 { hop_words } else { bits };
        if this.hop_ml != asked {
            let field = if is_1_0 { "Hop ML" } else { "Instruction Count" };
            let (found, expected) = (usize::from(this.hop_ml.count()), usize::from(asked.count()));
            return fault(ErrorKind::Mismatch { field, found, expected });
        }
        (this.version, this.layout, this.hop_ml) = (location.version, layout, hop_words);
        Ok(this)
    }

    fn of_1_0(header: &HeaderV1_0, location: &Location) -> Self {
        let is_numbered = location.deviations.contains(Deviation::NumberInReserved);
        Self {
            version: Version::V1_0,
            version_field: header.version(),
            replication: header.replication(),
            copy: header.copy(),
            max_hop_count_exceeded: header.max_hop_count_exceeded(),
            mtu_exceeded: Some(header.mtu_exceeded()),
            hop_counts: HopCounts::Remaining(header.remaining_hop_count()),
            instruction_bitmap: header.instruction_bitmap(),
            hop_ml: header.hop_ml(),
            sequence: is_numbered.then(|| header.reserved().into()),
            tail: None,
            layout: Layout::V1_0,
            stack: &[],
            hop_count: 0,
        }
    }

    fn of_0_5(header: &HeaderV0_5) -> Self {
        Self {
            version: Version::V0_5,
            version_field: header.version(),
            replication: header.replication(),
            copy: header.copy(),
            max_hop_count_exceeded: header.max_hop_count_exceeded(),
            mtu_exceeded: None,
            hop_counts: HopCounts::Total { most: header.max_hop_count(), total: header.total_hop_count() },
            instruction_bitmap: header.instruction_bitmap(),
            hop_ml: Words::new(header.instruction_count()),
            sequence: None,
            tail: None,
            layout: Layout::V0_5,
            stack: &[],
            hop_count: 0,
        }
    }

    fn of_2016(header: &HeaderV2016) -> Self {
        Self {
            version: Version::V2016,
            version_field: header.version(),
            replication: header.replication(),
            copy: header.copy(),
            max_hop_count_exceeded: header.max_hop_count_exceeded(),
            mtu_exceeded: None,
            hop_counts: HopCounts::Total { most: header.max_hop_count(), total: header.total_hop_count() },
            instruction_bitmap: header.instruction_bitmap(),
            hop_ml: Words::new(header.instruction_count()),
            sequence: None,
            tail: None,
            layout: Layout::V2016,
            stack: &[],
            hop_count: 0,
        }
    }

    /// Number of hops in a stack of `length` bytes; a Total Hop Count must agree with it.
    // int-2016/md-19
    // int-0.5/md-06
    fn count_hops(&self, at: usize, length: usize) -> Result<usize, ParseError> {
        let hop = self.hop_ml.bytes();
        let partial = || {
            let stack = u8::try_from(length / 4).map_or(Words::MAX, Words::new);
            let kind = ErrorKind::PartialHop { stack, hop_ml: self.hop_ml };
            ParseError::new(at + HEADER_BYTES, Header::MetadataStack, kind)
        };
        let count = match hop {
            0 if length == 0 => 0,
            0 => return Err(partial()),
            _ if length.is_multiple_of(hop) => length / hop,
            _ => return Err(partial()),
        };
        match self.hop_counts {
            HopCounts::Total { total, .. } if hop > 0 && usize::from(total) != count => {
                let kind =
                    ErrorKind::Mismatch { field: "Total Hop Count", found: total.into(), expected: count };
                Err(ParseError::new(at, Header::IntMetadata, kind))
            }
            _ => Ok(count),
        }
    }

    /// Number of hops the packet carries, visible or not.
    #[must_use]
    pub const fn hop_count(&self) -> usize {
        self.hop_count
    }

    /// Whether the bytes end before the stack does.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.stack.len() < self.hop_count * self.hop_ml.bytes()
    }

    /// Number of further hops that may add metadata.
    #[must_use]
    pub const fn remaining_hop_count(&self) -> u8 {
        match self.hop_counts {
            HopCounts::Remaining(remaining) => remaining,
            HopCounts::Total { most, total } => most.saturating_sub(total),
        }
    }

    /// The layout of each hop's metadata.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Iterates over the hops that are completely visible, the last hop of the path first.
    pub fn hops(&self) -> impl ExactSizeIterator<Item = Hop<'a>> + use<'a> {
        let (layout, instruction_bitmap) = (self.layout, self.instruction_bitmap);
        // The chunk size must not be 0; where hops are empty there are no bytes to split.
        let size = self.hop_ml.bytes().max(1);
        self.stack.chunks_exact(size).map(move |bytes| Hop { bytes, layout, instruction_bitmap })
    }
}

/// The version fields that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VersionField {
    /// The value for the version the header is read as.
    Right,
    /// Any value.
    Any,
}

/// The layout of a metadata header's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderForm {
    /// As drawn on [`HeaderV1_0`].
    V1_0,
    /// As drawn on [`HeaderV0_5`].
    V0_5,
    /// As drawn on [`HeaderV2016`].
    V2016,
}

impl HeaderForm {
    /// The form of a header of `version`, which must be before 2.0, with `deviations`.
    #[must_use]
    pub const fn of(version: Version, deviations: Deviations) -> Self {
        match version {
            Version::V1_0 | Version::V2_1 => Self::V1_0,
            Version::V0_5 | Version::HostInt0_5 if deviations.contains(Deviation::ShortVersion) => {
                Self::V2016
            }
            Version::V0_5 | Version::HostInt0_5 => Self::V0_5,
            Version::V2016 => Self::V2016,
        }
    }
}

/// The parts of INT that follow the stack.
#[derive(Clone, Copy)]
struct Behind {
    /// The sequence number of Host-INT.
    sequence: bool,
    /// The tail of 0.5 after TCP and UDP.
    tail: bool,
}

impl Behind {
    fn stack(location: &Location, header: &HopByHop<'_>) -> Self {
        let in_tunnel = matches!(location.encapsulation, Encapsulation::VxlanGpe | Encapsulation::Geneve);
        match (location.version, header.hop_counts) {
            (Version::V0_5, _) => Self { sequence: false, tail: !in_tunnel },
            (Version::HostInt0_5, HopCounts::Total { total, .. }) => {
                // Host-INT removes the tail when it reports; the length after the hops shows it.
                let hops = usize::from(total) * header.hop_ml.bytes();
                let without_tail = location.header + HEADER_BYTES + hops + host_int::SEQUENCE_BYTES;
                Self { sequence: true, tail: location.end != without_tail }
            }
            _ => Self { sequence: false, tail: false },
        }
    }

    const fn bytes(self) -> usize {
        let sequence = if self.sequence { host_int::SEQUENCE_BYTES } else { 0 };
        sequence + if self.tail { TAIL_BYTES } else { 0 }
    }
}

/// The metadata of one hop, in place.
#[derive(Clone, Copy, Debug)]
pub struct Hop<'a> {
    bytes: &'a [u8],
    layout: Layout,
    instruction_bitmap: u16,
}

impl<'a> Hop<'a> {
    /// The hop's metadata.
    #[must_use]
    pub fn metadata(&self) -> Metadata {
        Metadata::read(self.layout, self.instruction_bitmap, self.bytes)
    }

    /// The instruction bitmap the hop answers.
    #[must_use]
    pub const fn instruction_bitmap(&self) -> u16 {
        self.instruction_bitmap
    }

    /// The layout of the metadata.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// The reserved instruction bits that are set, with their metadata; `None` when not available.
    pub fn reserved(&self) -> impl Iterator<Item = (usize, Option<u32>)> + use<'a> {
        let (layout, bitmap) = (self.layout, self.instruction_bitmap);
        let none = not_available(layout);
        let before = layout.hop_words(bitmap & BEFORE_RESERVED).bytes();
        let words = self.bytes.get(before..).unwrap_or_default().as_chunks::<4>().0;
        set_bits(bitmap & !BEFORE_RESERVED & layout.reserved()).zip(words).map(move |(bit, word)| {
            let value = u32::from_be_bytes(*word) & none;
            (bit, Some(value).filter(|value| *value != none))
        })
    }
}

/// Bits 0 to 7, which all versions define; the reserved bits follow them.
const BEFORE_RESERVED: u16 = 0xff00;

#[cfg(test)]
mod tests;
