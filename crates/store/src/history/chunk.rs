//! The unit of reading: a row group of a segment, or a log's rows in memory.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use inband_model::Nanos;
use inband_model::table::Table;
use parquet::errors::ParquetError;

use super::column::{ColumnData, ValueTest};
use crate::damage::Damage;
use crate::decoded::LogPart;
use crate::error::StoreError;
use crate::range::TimeRange;
use crate::segment::{Kept, ROW_GROUP_ROWS, SegmentReader, column_of};
use crate::sketch::PackedSketches;
use crate::source::{Source, integer};

/// Some rows of a table.
#[derive(Clone)]
pub struct Chunk {
    /// Its number among all chunks of the table in a snapshot, whichever of them are read.
    number: u64,
    rows: usize,
    source: Part,
}

#[derive(Clone)]
enum Part {
    Group {
        segment: Arc<SegmentReader>,
        group: usize,
    },
    /// Returns a column of rows in memory; with the first and last of their times, if known.
    Memory {
        column: Arc<dyn Fn(usize) -> ColumnData + Send + Sync>,
        times: Option<(i64, i64)>,
    },
}

impl Chunk {
    /// The row groups of a segment.
    pub(crate) fn of_segment(segment: SegmentReader) -> Vec<Chunk> {
        let segment = Arc::new(segment);
        let chunk = |group| Chunk {
            number: 0,
            rows: segment.rows(group),
            source: Part::Group { segment: Arc::clone(&segment), group },
        };
        (0..segment.row_groups()).map(chunk).collect()
    }

    /// The hops of a log in memory, in chunks of a row group's size.
    pub(crate) fn of_hops(part: &Arc<LogPart>) -> Vec<Chunk> {
        let count = part.memory.hops.len();
        let times = part.times().map(|(first, last)| (integer(first.0), integer(last.0)));
        let chunk = |start: usize| {
            let range: Range<usize> = start..(start + ROW_GROUP_ROWS).min(count);
            let (length, part) = (range.len(), Arc::clone(part));
            let column = move |column: usize| Source::of(column).column(&part.memory.hops, range.clone());
            Chunk { number: 0, rows: length, source: Part::Memory { column: Arc::new(column), times } }
        };
        (0..count).step_by(ROW_GROUP_ROWS).map(chunk).collect()
    }

    /// Rows in memory, in chunks of a row group's size.
    pub(crate) fn of_rows<M: Send + Sync + 'static, R>(
        memory: &Arc<M>,
        table: &'static Table<R>,
        rows: fn(&M) -> &Vec<R>,
    ) -> Vec<Chunk> {
        let count = rows(memory).len();
        let chunk = |start: usize| {
            let range: Range<usize> = start..(start + ROW_GROUP_ROWS).min(count);
            let length = range.len();
            let memory = Arc::clone(memory);
            let column =
                move |column: usize| column_of(&table.columns[column].cells, &rows(&memory)[range.clone()]);
            Chunk { number: 0, rows: length, source: Part::Memory { column: Arc::new(column), times: None } }
        };
        (0..count).step_by(ROW_GROUP_ROWS).map(chunk).collect()
    }

    /// The chunk with its number in a snapshot: the `index`-th of a file. Those in memory follow the files.
    pub(super) fn numbered(self, file: usize, index: usize) -> Chunk {
        // No file has 65,536 of them.
        Chunk { number: ((file as u64) << 16) + index as u64, ..self }
    }

    /// The number of a row in the snapshot, the same whenever the row is read. A chunk has at most 2^24 rows.
    pub(crate) fn row_id(&self, row: u32) -> i64 {
        (self.number << 24 | u64::from(row)).cast_signed()
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Announces that columns will be read, so that reads wait for a disk together. Returns at once.
    pub(crate) fn announce(&self, columns: &[usize]) {
        if let Part::Group { segment, group } = &self.source {
            segment.announce(*group, columns);
        }
    }

    /// Announces that sketches will be read. Returns at once.
    pub(crate) fn announce_sketches(&self, column: usize) {
        if let Part::Group { segment, group } = &self.source {
            segment.announce_sketches(*group, column);
        }
    }

    /// The packed sketches of a column; `None` if it has only their texts.
    pub(crate) fn packed_sketches(&self, column: usize) -> Result<Option<PackedSketches>, StoreError> {
        match &self.source {
            Part::Group { segment, group } => {
                segment.sketches(*group, column).map_err(StoreError::segment("read", segment.path()))
            }
            Part::Memory { .. } => Ok(None),
        }
    }

    /// The values of a column.
    ///
    /// # Errors
    /// The segment is damaged.
    pub fn column(&self, column: usize) -> Result<ColumnData, StoreError> {
        match &self.source {
            Part::Group { segment, group } => {
                segment.column(*group, column).map_err(StoreError::segment("read", segment.path()))
            }
            Part::Memory { column: of, .. } => Ok(of(column)),
        }
    }

    /// What is kept of the same rows while these columns are read.
    pub(crate) fn kept_for(&self, columns: &[usize]) -> Kept {
        match &self.source {
            Part::Group { segment, .. } => segment.kept_for(columns),
            Part::Memory { .. } => Kept::default(),
        }
    }

    /// The values of a column in its first `rows` rows; of rows in memory, in all of them.
    pub(crate) fn first_of_column(
        &self,
        column: usize,
        rows: usize,
        kept: &mut Kept,
    ) -> Result<ColumnData, StoreError> {
        match &self.source {
            Part::Group { segment, group } => segment
                .first_of_column(*group, column, rows, kept)
                .map_err(StoreError::segment("read", segment.path())),
            Part::Memory { column: of, .. } => Ok(of(column)),
        }
    }

    /// The values of a column in some rows, which are in ascending order, one after another.
    pub(crate) fn rows_of_column(
        &self,
        column: usize,
        rows: &[u32],
        kept: &mut Kept,
    ) -> Result<ColumnData, StoreError> {
        match &self.source {
            Part::Group { segment, group } => segment
                .rows_of_column(*group, column, rows, kept)
                .map_err(StoreError::segment("read", segment.path())),
            Part::Memory { column: of, .. } => Ok(of(column).of_rows(rows)),
        }
    }

    /// The rows, out of some in ascending order or all, whose value in a column passes a test. `None` if the
    /// values must be read to tell.
    pub(crate) fn rows_with(
        &self,
        column: usize,
        among: Option<&[u32]>,
        test: ValueTest<'_>,
    ) -> Result<Option<Vec<u32>>, StoreError> {
        match &self.source {
            Part::Group { segment, group } => segment
                .rows_with(*group, column, among, test)
                .map_err(StoreError::segment("read", segment.path())),
            Part::Memory { .. } => Ok(None),
        }
    }

    /// The values of a column in a range of rows.
    pub(crate) fn part_of_column(&self, column: usize, rows: Range<usize>) -> Result<ColumnData, StoreError> {
        match &self.source {
            Part::Group { segment, group } => segment
                .part_of_column(*group, column, rows)
                .map_err(StoreError::segment("read", segment.path())),
            Part::Memory { column: of, .. } => Ok(of(column).pick(rows)),
        }
    }

    /// The segment; empty for rows in memory.
    pub(crate) fn file(&self) -> &Path {
        match &self.source {
            Part::Group { segment, .. } => segment.path(),
            Part::Memory { .. } => Path::new(""),
        }
    }

    /// What is left out because a column cannot be read.
    pub(crate) fn damage(&self, column: usize, error: &StoreError) -> Damage {
        let cause = match error {
            // The library prefixes our reader's message with its own name.
            StoreError::Segment { source: ParquetError::General(what), .. } => what.clone(),
            _ => error.source().map_or_else(|| error.to_string(), ToString::to_string),
        };
        match &self.source {
            Part::Group { group, segment } => {
                let place = format!("row group {group}, column {}", segment.name(column));
                Damage::new(self.file(), place, cause, Some(self.rows))
            }
            Part::Memory { .. } => Damage::new(self.file(), "memory", cause, Some(self.rows)),
        }
    }

    /// Whether the column may contain a number from `least` to `greatest`, as far as known without reading.
    #[must_use]
    pub fn may_hold(&self, column: usize, least: i64, greatest: i64) -> bool {
        self.integer_bounds(column).is_none_or(|(min, max)| min <= greatest && max >= least)
    }

    /// Whether every row is known to have a number from `least` to `greatest` in the column.
    pub(crate) fn holds_only(&self, column: usize, least: i64, greatest: i64) -> bool {
        let Part::Group { segment, group, .. } = &self.source else { return false };
        let bounds = segment.integer_bounds(*group, column);
        !segment.may_miss(column) && bounds.is_some_and(|(min, max)| least <= min && max <= greatest)
    }

    /// The smallest number of a column, if known without reading.
    pub(crate) fn least(&self, column: usize) -> Option<i64> {
        self.integer_bounds(column).map(|(least, _)| least)
    }

    /// Whether the column may lack a value in some row, as far as known without reading.
    pub(crate) fn may_miss(&self, column: usize) -> bool {
        match &self.source {
            Part::Group { segment, group, .. } => segment.misses(*group, column),
            Part::Memory { .. } => true,
        }
    }

    /// Whether the column may contain this text, as far as known without reading.
    #[must_use]
    pub fn may_hold_text(&self, column: usize, text: &str) -> bool {
        let Part::Group { segment, group, .. } = &self.source else { return true };
        let text = text.as_bytes();
        segment.text_bounds(*group, column).is_none_or(|(min, max)| min <= text && text <= max)
    }

    /// Whether all times are known to be in a range.
    pub(crate) fn is_within(&self, range: TimeRange) -> bool {
        let is_in = |time: i64| (range.from.0..=range.to.0).contains(&time.cast_unsigned());
        self.integer_bounds(TIME).is_some_and(|(min, max)| is_in(min) && is_in(max))
    }

    /// The first and the last time, if known without reading.
    pub(crate) fn times(&self) -> Option<(Nanos, Nanos)> {
        let time = |time: i64| Nanos(u64::try_from(time).unwrap_or(0));
        self.integer_bounds(TIME).map(|(first, last)| (time(first), time(last)))
    }

    /// The smallest and the largest number of a column, if known without reading.
    fn integer_bounds(&self, column: usize) -> Option<(i64, i64)> {
        match &self.source {
            Part::Group { segment, group, .. } => segment.integer_bounds(*group, column),
            Part::Memory { times, .. } => times.filter(|_| column == TIME),
        }
    }

    pub(crate) fn may_hold_times(&self, range: TimeRange) -> bool {
        let bound = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
        self.may_hold(TIME, bound(range.from.0), bound(range.to.0))
    }
}

impl fmt::Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunk").field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// The time is the first column of every table.
const TIME: usize = 0;
