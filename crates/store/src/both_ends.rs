//! Distribution of a question's chunks over two threads, one from each end, and their announcement.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ahead::Ahead;
use crate::history::Chunk;

/// The chunks of a question, which two threads read from both ends until they meet: each of them reads
/// neighbours.
#[derive(Debug)]
pub(crate) struct BothEnds<'a> {
    from_first: Ahead<'a>,
    from_last: Ahead<'a>,
    chunks: usize,
    /// The number of chunks that were taken, or one more for each attempt after the last.
    taken: AtomicUsize,
}

/// The end that a thread reads from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    /// The first chunk.
    First,
    /// The last chunk.
    Last,
}

impl<'a> BothEnds<'a> {
    /// The chunks in this order, of which `columns` are read, and the sketches of another one.
    pub(crate) fn of(
        chunks: impl DoubleEndedIterator<Item = &'a Chunk> + ExactSizeIterator + Clone,
        columns: &[usize],
        sketches: Option<usize>,
    ) -> Self {
        Self {
            chunks: chunks.len(),
            from_first: Ahead::of(chunks.clone(), columns.to_vec()).with_sketches(sketches),
            from_last: Ahead::of(chunks.rev(), columns.to_vec()).with_sketches(sketches),
            taken: AtomicUsize::new(0),
        }
    }

    /// The place of the next chunk from this end; `None` if all are taken.
    pub(crate) fn take(&self, from: End) -> Option<usize> {
        if self.taken.fetch_add(1, Ordering::Relaxed) >= self.chunks {
            return None;
        }
        match from {
            End::First => Some(self.from_first.take()),
            End::Last => (self.chunks - 1).checked_sub(self.from_last.take()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BothEnds, End};
    use crate::history::History;
    use crate::range::TimeRange;
    use crate::sample::{Folder, reports};
    use crate::settings::StoreSettings;
    use crate::store::{Offered, Store};

    #[test]
    fn each_chunk_is_taken_once_whoever_comes_first() {
        let folder = Folder::new();
        let store = Store::open(StoreSettings { segment_rows: 50, ..folder.settings() }).unwrap();
        for first in 0..7 {
            assert_eq!(store.offer(reports(first * 50, 50)), Offered::Queued);
            store.sync();
        }
        let history: History = store.history().unwrap();
        let chunks = history.chunks(&inband_model::table::OBSERVATIONS.shape(), TimeRange::ALL).unwrap();
        assert!(chunks.len() >= 3, "{}", chunks.len());
        for turns in [[End::First, End::First], [End::Last, End::Last], [End::First, End::Last]] {
            let ends = BothEnds::of(chunks.iter(), &[0], None);
            let mut taken: Vec<usize> = turns.into_iter().cycle().map_while(|end| ends.take(end)).collect();
            taken.sort_unstable();
            assert_eq!(taken, (0..chunks.len()).collect::<Vec<_>>());
            assert_eq!((ends.take(End::First), ends.take(End::Last)), (None, None));
        }
        let none = BothEnds::of([].iter(), &[0], None);
        assert_eq!((none.take(End::First), none.take(End::Last)), (None, None));
    }
}
