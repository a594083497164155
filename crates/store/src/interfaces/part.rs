//! The counts of one thread.

use std::collections::HashMap;

use crate::history::Sketches;
use crate::mixer::Seed;
use crate::sketch::BUCKETS;

use super::columns::Numbers;
use super::sums::{Interface, InterfaceSums};

/// The counts of one thread.
#[derive(Default)]
pub(super) struct Part {
    places: HashMap<Interface, u32, Seed>,
    /// The place of the previous row.
    last: Option<u32>,
    pub(super) interfaces: Vec<Interface>,
    pub(super) sums: Vec<InterfaceSums>,
    /// Place and latency bucket of each hop.
    pub(super) cells: Vec<Cell>,
    /// The same, with the number of occurrences.
    pub(super) counted: Vec<(Cell, u32)>,
    /// Where the sketches of rows are, and the sketches of each chunk.
    pub(super) sketches: Vec<SketchPlace>,
    pub(super) of_chunks: Vec<Sketches>,
    pub(super) is_too_large: bool,
}

impl Part {
    /// The places of the interfaces in some rows; `None` if there are too many interfaces.
    pub(super) fn places(&mut self, rows: &[u32], nodes: &Numbers, interfaces: &Numbers) -> Option<Vec<u32>> {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let mut places = Vec::with_capacity(rows.len());
        for row in rows.iter().map(|row| *row as usize) {
            let key = (nodes.get(row).map_or(u32::MAX, small), interfaces.get(row).map(small));
            // Most tables have the same order: the next interface is the one that came next before.
            let is_at = |place: &u32| self.interfaces.get(*place as usize) == Some(&key);
            let near = self.last.and_then(|last| [last + 1, last].into_iter().find(is_at));
            let place = match near {
                Some(near) => near,
                None => self.place(key)?,
            };
            self.last = Some(place);
            places.push(place);
        }
        Some(places)
    }

    /// The place of an interface; `None` if there are too many.
    pub(super) fn place(&mut self, key: Interface) -> Option<u32> {
        let next = u32::try_from(self.interfaces.len()).ok().filter(|next| *next < MAX_PLACES)?;
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.interfaces.push(key);
            self.sums.push(InterfaceSums::default());
        }
        Some(place)
    }

    /// Combines equal cells if there are many, so that memory grows with the places and not with the hops.
    pub(super) fn compact(&mut self) {
        if self.cells.len() < MANY_CELLS {
            return;
        }
        self.cells.sort_unstable();
        let same = self.cells.chunk_by(|one, next| one == next);
        self.counted.extend(same.map(|same| (same[0], u32::try_from(same.len()).unwrap_or(u32::MAX))));
        self.cells.clear();
        self.counted.sort_unstable_by_key(|(cell, _)| *cell);
        self.counted.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            is_same
        });
    }

    pub(super) fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Cell>()
            + self.counted.capacity() * size_of::<(Cell, u32)>()
            + self.sketches.capacity() * size_of::<SketchPlace>()
            + self.of_chunks.iter().map(Sketches::bytes).sum::<usize>()
            + self.interfaces.len() * BYTES_OF_INTERFACE
    }
}

/// A place and a latency bucket in one number.
pub(super) type Cell = u32;

/// Position of the sketch of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct SketchPlace {
    pub(super) place: u32,
    /// The number of the chunk.
    pub(super) chunk: u32,
    /// The number of the sketch in the chunk.
    pub(super) number: u32,
}

/// The cell of a hop.
pub(super) fn cell(place: usize, bucket: u32) -> Cell {
    // The number of places is bounded.
    u32::try_from(place).unwrap_or(0) << BUCKET_BITS | bucket
}

/// The place and the latency bucket of a cell.
pub(super) fn parts_of(cell: Cell) -> (u32, u16) {
    (cell >> BUCKET_BITS, u16::try_from(cell & ((1 << BUCKET_BITS) - 1)).unwrap_or(0))
}

/// Bits of the bucket in a cell; the rest is the place.
const BUCKET_BITS: u32 = 11;
const MAX_PLACES: u32 = 1 << (u32::BITS - BUCKET_BITS);
const _: () = assert!(BUCKETS <= 1 << BUCKET_BITS, "a bucket fits");
/// Cells from which they are combined.
pub(super) const MANY_CELLS: usize = 1 << 22;
const BYTES_OF_INTERFACE: usize = 160;
