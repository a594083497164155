//! Distribution of a question's chunks over its threads, and their announcement.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::history::Chunk;

/// The chunks of a question in the order in which its threads read them.
#[derive(Debug)]
pub(crate) struct Ahead<'a> {
    chunks: Vec<&'a Chunk>,
    /// The columns that are read of each.
    columns: Vec<usize>,
    /// The column whose sketches are read.
    sketches: Option<usize>,
    /// The number of chunks that threads have taken.
    taken: AtomicUsize,
    /// The number of announced chunks.
    announced: AtomicUsize,
}

impl<'a> Ahead<'a> {
    pub(crate) fn of(chunks: impl IntoIterator<Item = &'a Chunk>, columns: Vec<usize>) -> Self {
        let chunks = chunks.into_iter().collect();
        Self { chunks, columns, sketches: None, taken: AtomicUsize::new(0), announced: AtomicUsize::new(0) }
    }

    /// The same, with the sketches of a column.
    pub(crate) fn with_sketches(self, sketches: Option<usize>) -> Self {
        Self { sketches, ..self }
    }

    /// The place of the next chunk, which may be past the end; announces that chunk and some after it.
    pub(crate) fn take(&self) -> usize {
        let place = self.taken.fetch_add(1, Ordering::Relaxed);
        let end = place.saturating_add(MOST).min(self.chunks.len());
        let start = self.announced.fetch_max(end, Ordering::Relaxed);
        for chunk in self.chunks.get(start..end).unwrap_or_default() {
            chunk.announce(&self.columns);
            self.sketches.iter().for_each(|column| chunk.announce_sketches(*column));
        }
        place
    }
}

/// Chunks that are announced before they are read.
const MOST: usize = 16;
