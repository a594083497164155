//! The sketches of a column, packed or as texts.

use super::column::ColumnData;
use super::texts::Texts;
use crate::sketch::{PackedSketches, parse_pairs};

/// The sketches of some rows of a chunk.
#[derive(Debug)]
pub(crate) enum Sketches {
    /// By row.
    Packed(PackedSketches),
    /// By the number of the text that a row has.
    Texts(Vec<Option<u32>>, Texts),
}

impl Sketches {
    /// Those of a column of texts; `None` for other columns.
    pub(super) fn of(column: ColumnData) -> Option<Self> {
        match column {
            ColumnData::Texts { codes, words } => Some(Self::Texts(codes, words)),
            _ => None,
        }
    }

    /// The number of a row's sketch; `None` if it has none.
    pub(crate) fn number(&self, row: u32) -> Option<u32> {
        match self {
            Self::Packed(_) => Some(row),
            Self::Texts(codes, _) => codes.get(row as usize).copied().flatten(),
        }
    }

    /// Passes each bucket of a sketch to `take`, with its count, up to the first invalid pair.
    pub(crate) fn each(&self, number: u32, take: impl FnMut(u32, u64)) {
        match self {
            Self::Packed(sketches) => sketches.each(number as usize, take),
            Self::Texts(_, texts) => parse_pairs(texts.get(number as usize), take),
        }
    }

    /// Bytes of memory, approximately.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Packed(sketches) => sketches.bytes(),
            Self::Texts(codes, texts) => codes.capacity() * size_of::<Option<u32>>() + texts.bytes(),
        }
    }
}
