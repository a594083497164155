//! Report groups: the group header and the individual reports after it.

use zerocopy::byteorder::big_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{ErrorKind, Header, ParseError};
use crate::layers::Strictness;
use crate::report::first_word::FIRST_WORD_BYTES;
use crate::report::individual::IndividualReport;
use crate::report::{Deviation, Leniency};
use crate::view::view;

/// The group header, once at the start of every report datagram, 8 bytes.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-----------+-------------------------------------------+
/// |Ver = 2|   hw_id   |              Sequence Number              |
/// +-------+-----------+-------------------------------------------+
/// |                            Node ID                            |
/// +---------------------------------------------------------------+
/// ```
// report-2.0/group-01
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct GroupHeader {
    version_hw_id_sequence: U32,
    node_id: U32,
}

/// Length of the group header, bytes.
pub const HEADER_BYTES: usize = size_of::<GroupHeader>();
/// The version of this format.
pub const VERSION: u8 = 2;
/// Width of the sequence number, bits.
pub const SEQUENCE_BITS: u32 = 22;
/// The maximum of the 6-bit hw_id.
pub const MAX_HW_ID: u8 = 0x3f;

const SEQUENCE_MASK: u32 = (1 << SEQUENCE_BITS) - 1;

impl GroupHeader {
    /// Creates a header; `hw_id` keeps its low 6 bits, `sequence` its low 22.
    #[must_use]
    pub fn new(hw_id: u8, sequence: u32, node_id: u32) -> Self {
        let first = u32::from(VERSION) << 28
            | u32::from(hw_id & MAX_HW_ID) << SEQUENCE_BITS
            | sequence & SEQUENCE_MASK;
        Self { version_hw_id_sequence: U32::new(first), node_id: U32::new(node_id) }
    }

    /// The version field, 4 bits.
    #[must_use]
    pub fn version(&self) -> u8 {
        (self.version_hw_id_sequence.get() >> 28) as u8
    }

    /// Which part of the node's hardware sent the datagram, 0 to 63.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "the low 8 bits are wanted, 6 of them count")]
    pub fn hw_id(&self) -> u8 {
        (self.version_hw_id_sequence.get() >> SEQUENCE_BITS) as u8 & MAX_HW_ID
    }

    /// Number of the datagram, 22 bits, counted per node, hw_id and destination.
    #[must_use]
    pub fn sequence(&self) -> u32 {
        self.version_hw_id_sequence.get() & SEQUENCE_MASK
    }

    /// The reporting node.
    #[must_use]
    pub fn node_id(&self) -> u32 {
        self.node_id.get()
    }
}

/// The reports of one datagram.
#[derive(Clone, Copy, Debug)]
pub struct ReportGroup<'a> {
    /// The group header.
    pub header: &'a GroupHeader,
    /// Deviation of the header from the format; `None` in a strict reading.
    pub deviation: Option<Deviation>,
    bytes: &'a [u8],
    leniency: Leniency,
    strictness: Strictness,
}

impl<'a> ReportGroup<'a> {
    /// Reads the group header of the UDP payload `bytes` strictly.
    ///
    /// # Errors
    /// A header that is truncated, or a version other than 2.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        Self::parse_with(bytes, Leniency::Strict, Strictness::Whole)
    }

    /// Reads the group header of the UDP payload `bytes`; with [`Strictness::Truncated`] the payload may end
    /// inside its last report.
    ///
    /// # Errors
    /// A header that is truncated, or a version that `leniency` does not accept.
    #[inline]
    pub fn parse_with(
        bytes: &'a [u8],
        leniency: Leniency,
        strictness: Strictness,
    ) -> Result<Self, ParseError> {
        let header: &GroupHeader = view(bytes, 0, Header::ReportGroup)?;
        // report-2.0/group-02
        let deviation = match (header.version(), leniency) {
            (VERSION, _) => None,
            (1, Leniency::Lenient) => Some(Deviation::Version1),
            (found, _) => {
                let kind = ErrorKind::Version { found, expected: VERSION };
                return Err(ParseError::new(0, Header::ReportGroup, kind));
            }
        };
        Ok(Self { header, deviation, bytes, leniency, strictness })
    }

    // report-2.0/group-04, report-2.0/group-06, report-2.0/group-07: all of them are of the header's node.
    /// Iterates over the individual reports; ends after the first that cannot be read.
    ///
    /// Up to 3 bytes after the last report are skipped: some nodes round its length down.
    #[must_use]
    pub fn reports(&self) -> Reports<'a> {
        Reports { bytes: self.bytes, at: HEADER_BYTES, leniency: self.leniency, strictness: self.strictness }
    }
}

/// The individual reports of a datagram, in order.
#[derive(Clone, Debug)]
pub struct Reports<'a> {
    bytes: &'a [u8],
    at: usize,
    leniency: Leniency,
    strictness: Strictness,
}

impl<'a> Iterator for Reports<'a> {
    type Item = Result<IndividualReport<'a>, ParseError>;

    // A report is large: inlining saves moving it and computing fields that are not used.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let left = self.bytes.len().checked_sub(self.at)?;
        // report-2.0/group-04: at least one report; fewer than 4 bytes after the last one are skipped.
        let is_first = self.at == HEADER_BYTES;
        if left < FIRST_WORD_BYTES && !(is_first && self.leniency == Leniency::Strict) {
            return None;
        }
        let report = IndividualReport::parse(self.bytes, self.at, self.leniency, self.strictness);
        self.at = match &report {
            Ok(report) => report.end,
            // Past the end: nothing follows, not even in a datagram that ends here.
            Err(_) => self.bytes.len() + 1,
        };
        Some(report)
    }
}

#[cfg(test)]
mod tests;
