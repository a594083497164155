//! What does history hold at this moment? Segments, and the logs that are no segments yet.

mod chunk;
mod column;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use inband_model::Nanos;
use inband_model::table::{EVENTS, LEDGER, MINUTES, MinuteRow, OBSERVATIONS, PATHS, Shape, shapes};

use crate::error::StoreError;
use crate::layout::{self, SegmentFile};
use crate::log;
use crate::memory::Memory;
use crate::minutes::Minutes;

pub use chunk::Chunk;
pub use column::{ColumnData, Value};

/// A snapshot of history. Nothing is locked: a store may write and remove segments meanwhile.
#[derive(Debug, Clone)]
pub struct History {
    root: PathBuf,
    /// For each table, in the order of `shapes`.
    segments: Vec<Vec<SegmentFile>>,
    memory: Arc<Memory>,
    /// Made of `memory` when they are asked for.
    minutes: Arc<OnceLock<Arc<Vec<MinuteRow>>>>,
}

/// A span of times, both ends in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// The first time.
    pub from: Nanos,
    /// The last time.
    pub to: Nanos,
}

impl TimeRange {
    /// All times.
    pub const ALL: TimeRange = TimeRange { from: Nanos::ZERO, to: Nanos::MAX };
}

impl History {
    /// Takes a snapshot of the store in a directory.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn open(root: &Path) -> Result<History, StoreError> {
        if !layout::log_directory(root).is_dir() {
            return Err(StoreError::NoHistory(root.to_owned()));
        }
        for _ in 0..ATTEMPTS {
            if let Some(history) = History::attempt(root)? {
                return Ok(history);
            }
        }
        Err(StoreError::InUse(root.to_owned()))
    }

    /// `None` when a log became segments meanwhile.
    fn attempt(root: &Path) -> Result<Option<History>, StoreError> {
        let logs = layout::logs(root)?;
        let mut memory = Memory::default();
        for (_, path) in &logs {
            match fs::read(path) {
                Ok(bytes) => log::decode(&bytes, |batch| drop(memory.add(batch))),
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(StoreError::io("read", path)(error)),
            };
        }
        memory.sort();
        // Segments of these logs, and of later ones, hold what the logs hold or what came after this moment.
        let first_log = logs.first().map(|(generation, _)| *generation);
        let mut segments = Vec::new();
        for shape in shapes() {
            let mut files = layout::segments(root, shape.name)?;
            files.retain(|file| first_log.is_none_or(|first| file.generation < first));
            segments.push(files);
        }
        let (memory, minutes) = (Arc::new(memory), Arc::default());
        Ok(Some(History { root: root.to_owned(), segments, memory, minutes }))
    }

    /// Where it is kept.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Bytes of all segments.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.segments.iter().flatten().map(|file| file.bytes).sum()
    }

    /// How many rows a table has, at most; a segment that cannot be opened counts as large.
    #[must_use]
    pub fn rows(&self, table: &Shape) -> usize {
        self.chunks(table, TimeRange::ALL).map_or(usize::MAX, |chunks| chunks.iter().map(Chunk::rows).sum())
    }

    /// The parts of a table that can be read one by one, oldest first, without those outside of `range`.
    ///
    /// # Errors
    /// A segment cannot be opened. One that was removed for its age meanwhile is left out.
    pub fn chunks(&self, table: &Shape, range: TimeRange) -> Result<Vec<Chunk>, StoreError> {
        let mut chunks = Vec::new();
        let Some(index) = shapes().iter().position(|shape| shape.name == table.name) else {
            return Ok(chunks);
        };
        for file in &self.segments[index] {
            if file.hour.end() <= range.from || file.hour.start() > range.to {
                continue;
            }
            match Chunk::of_segment(&file.path, table) {
                Ok(groups) => chunks.extend(groups.into_iter().filter(|chunk| chunk.may_hold_times(range))),
                Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        chunks.extend(self.rows_in_memory(table.name));
        Ok(chunks)
    }

    fn rows_in_memory(&self, table: &str) -> Vec<Chunk> {
        let memory = &self.memory;
        match table {
            name if name == OBSERVATIONS.name => Chunk::of_hops(memory),
            name if name == PATHS.name => Chunk::of_rows(memory, &PATHS, |memory| &memory.paths),
            name if name == EVENTS.name => Chunk::of_rows(memory, &EVENTS, |memory| &memory.events),
            name if name == LEDGER.name => Chunk::of_rows(memory, &LEDGER, |memory| &memory.ledger),
            name if name == MINUTES.name => {
                let minutes = self.minutes.get_or_init(|| Arc::new(Minutes::of(&memory.hops).rows()));
                Chunk::of_rows(minutes, &MINUTES, |minutes| minutes)
            }
            _ => Vec::new(),
        }
    }
}

/// Times a snapshot is tried when logs become segments while it is taken.
const ATTEMPTS: usize = 100;
