//! The sketches of a column, packed or as texts.

use super::column::ColumnData;
use super::texts::Texts;
use crate::sketch::{PackedSketches, parse_pairs};

/// The sketches of some rows of a chunk.
#[derive(Debug)]
pub(crate) enum Sketches {
    /// Of all rows of the chunk, by row.
    Packed(PackedSketches),
    /// Of the requested rows, by the number of the text that each has.
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

    /// The number of the sketch of each requested row; `None` if it has none.
    pub(crate) fn numbers(&self, rows: &[u32]) -> impl Iterator<Item = Option<u32>> {
        rows.iter().enumerate().map(move |(place, row)| match self {
            Self::Packed(_) => Some(*row),
            Self::Texts(codes, _) => codes.get(place).copied().flatten(),
        })
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
