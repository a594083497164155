//! The sketches of the rows of a roll-up.

use crate::sketch::{Sketch, bucket};

/// A sketch for each row. Values are collected and sorted before they are added, because those of one row
/// are far apart in the reports.
#[derive(Debug, Default)]
pub(super) struct Sketches {
    sketches: Vec<Sketch>,
    /// Row and bucket of each value that is in no sketch yet.
    waiting: Vec<(u32, u32)>,
    /// Whether the sketch of a row has changed since they were last taken.
    changed: Vec<bool>,
}

impl Sketches {
    /// Adds a value of a row.
    #[inline]
    pub(super) fn add(&mut self, row: u32, value: u64) {
        self.waiting.push((row, bucket(value)));
        if self.waiting.len() >= MAX_WAITING {
            self.settle();
        }
    }

    /// Passes each sketch that has changed since the last call to `take`, with its row.
    pub(super) fn take_changed(&mut self, mut take: impl FnMut(usize, &Sketch)) {
        self.settle();
        for (row, changed) in self.changed.iter_mut().enumerate().filter(|(_, changed)| **changed) {
            *changed = false;
            take(row, &self.sketches[row]);
        }
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let sketches = self.sketches.len() * (size_of::<Sketch>() + size_of::<bool>());
        let buckets: usize = self.sketches.iter().map(Sketch::bytes).sum();
        sketches + buckets + self.waiting.capacity() * size_of::<(u32, u32)>()
    }

    /// Adds the values that wait to the sketches of their rows.
    fn settle(&mut self) {
        let Some(rows) = self.waiting.iter().map(|(row, _)| *row as usize + 1).max() else { return };
        if self.sketches.len() < rows {
            self.sketches.resize_with(rows, Sketch::default);
            self.changed.resize(rows, false);
        }
        // Groups the buckets by row.
        let mut ends: Vec<usize> = vec![0; rows];
        self.waiting.iter().for_each(|(row, _)| ends[*row as usize] += 1);
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut buckets = vec![0; self.waiting.len()];
        for (row, bucket) in self.waiting.drain(..) {
            let end = &mut ends[row as usize];
            buckets[*end] = bucket;
            *end += 1;
        }
        let mut start = 0;
        for ((sketch, changed), end) in self.sketches.iter_mut().zip(&mut self.changed).zip(ends) {
            let buckets = &mut buckets[start..end];
            start = end;
            *changed |= !buckets.is_empty();
            buckets.sort_unstable();
            for same in buckets.chunk_by(|one, next| one == next) {
                sketch.add_many(same[0], same.len() as u64);
            }
        }
    }
}

/// Values that wait at most: 8 bytes each, and half as many again while they are added.
const MAX_WAITING: usize = 1 << 18;
