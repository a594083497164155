//! Announcement of the chunks that a question reads next.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::history::Chunk;

/// The chunks of a question in the order in which its threads read them.
#[derive(Debug)]
pub(crate) struct Ahead<'a> {
    chunks: Vec<&'a Chunk>,
    /// The columns that are read of each.
    columns: Vec<usize>,
    /// The number of announced chunks.
    announced: AtomicUsize,
}

impl<'a> Ahead<'a> {
    pub(crate) fn of(chunks: impl IntoIterator<Item = &'a Chunk>, columns: Vec<usize>) -> Self {
        Self { chunks: chunks.into_iter().collect(), columns, announced: AtomicUsize::new(0) }
    }

    /// Announces the chunk in this place and some after it.
    pub(crate) fn reach(&self, place: usize) {
        let end = place.saturating_add(MOST).min(self.chunks.len());
        let start = self.announced.fetch_max(end, Ordering::Relaxed);
        for chunk in self.chunks.get(start..end).unwrap_or_default() {
            chunk.announce(&self.columns);
        }
    }
}

/// Chunks that are announced before they are read.
const MOST: usize = 16;
