//! What is read at once? A row group of a segment, or rows of a log that are in memory.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use inband_model::Nanos;
use inband_model::table::Table;
use parquet::errors::ParquetError;

use super::column::ColumnData;
use crate::damage::Damage;
use crate::decoded::LogPart;
use crate::error::StoreError;
use crate::range::TimeRange;
use crate::segment::{ROW_GROUP_ROWS, SegmentReader, column_of};
use crate::source::{Source, integer};

/// Some rows of a table.
#[derive(Clone)]
pub struct Chunk {
    rows: usize,
    source: Part,
}

#[derive(Clone)]
enum Part {
    Group {
        segment: Arc<SegmentReader>,
        path: Arc<PathBuf>,
        group: usize,
    },
    /// Takes a column out of rows in memory; the times from and to which these are, where they are known.
    Memory {
        column: Arc<dyn Fn(usize) -> ColumnData + Send + Sync>,
        times: Option<(i64, i64)>,
    },
}

impl Chunk {
    /// The row groups of a segment.
    pub(crate) fn of_segment(segment: SegmentReader, path: &Path) -> Vec<Chunk> {
        let (segment, path) = (Arc::new(segment), Arc::new(path.to_owned()));
        let chunk = |group| Chunk {
            rows: segment.rows(group),
            source: Part::Group { segment: Arc::clone(&segment), path: Arc::clone(&path), group },
        };
        (0..segment.row_groups()).map(chunk).collect()
    }

    /// Hops of a log in memory, as many at once as a row group has.
    pub(crate) fn of_hops(part: &Arc<LogPart>) -> Vec<Chunk> {
        let count = part.memory.hops.len();
        let times = part.times().map(|(first, last)| (integer(first.0), integer(last.0)));
        let chunk = |start: usize| {
            let range: Range<usize> = start..(start + ROW_GROUP_ROWS).min(count);
            let (length, part) = (range.len(), Arc::clone(part));
            let column = move |column: usize| Source::of(column).column(&part.memory.hops, range.clone());
            Chunk { rows: length, source: Part::Memory { column: Arc::new(column), times } }
        };
        (0..count).step_by(ROW_GROUP_ROWS).map(chunk).collect()
    }

    /// Rows in memory, as many at once as a row group has.
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
            Chunk { rows: length, source: Part::Memory { column: Arc::new(column), times: None } }
        };
        (0..count).step_by(ROW_GROUP_ROWS).map(chunk).collect()
    }

    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The values of a column.
    ///
    /// # Errors
    /// The segment is damaged.
    pub fn column(&self, column: usize) -> Result<ColumnData, StoreError> {
        match &self.source {
            Part::Group { segment, path, group } => {
                segment.column(*group, column).map_err(StoreError::segment("read", path))
            }
            Part::Memory { column: of, .. } => Ok(of(column)),
        }
    }

    /// The values of a column in its first rows; of rows in memory, in all of them.
    pub(crate) fn first_of_column(&self, column: usize, rows: usize) -> Result<ColumnData, StoreError> {
        match &self.source {
            Part::Group { segment, path, group } => {
                segment.first_of_column(*group, column, rows).map_err(StoreError::segment("read", path))
            }
            Part::Memory { column: of, .. } => Ok(of(column)),
        }
    }

    /// The values of a column in some of the rows, which rise, each at the place of its row; the rows between them may have
    /// any value.
    pub(crate) fn rows_of_column(&self, column: usize, rows: &[u32]) -> Result<ColumnData, StoreError> {
        match &self.source {
            Part::Group { segment, path, group } => {
                segment.rows_of_column(*group, column, rows).map_err(StoreError::segment("read", path))
            }
            Part::Memory { column: of, .. } => Ok(of(column)),
        }
    }

    /// The values of a column in some of the rows.
    pub(crate) fn part_of_column(&self, column: usize, rows: Range<usize>) -> Result<ColumnData, StoreError> {
        match &self.source {
            Part::Group { segment, path, group } => {
                segment.part_of_column(*group, column, rows).map_err(StoreError::segment("read", path))
            }
            Part::Memory { column: of, .. } => Ok(of(column).pick(rows)),
        }
    }

    /// What is left out because a column cannot be read.
    pub(crate) fn damage(&self, column: usize, error: &StoreError) -> Damage {
        let cause = match error {
            // The library puts its name in front of what our reader says.
            StoreError::Segment { source: ParquetError::General(what), .. } => what.clone(),
            _ => error.source().map_or_else(|| error.to_string(), ToString::to_string),
        };
        match &self.source {
            Part::Group { path, group, segment } => {
                let place = format!("row group {group}, column {}", segment.name(column));
                Damage::new(path, place, cause, Some(self.rows))
            }
            Part::Memory { .. } => Damage::new(Path::new(""), "memory", cause, Some(self.rows)),
        }
    }

    /// Whether a number of the column may be from `least` to `greatest`, as far as is known without reading.
    #[must_use]
    pub fn may_hold(&self, column: usize, least: i64, greatest: i64) -> bool {
        self.integer_bounds(column).is_none_or(|(min, max)| min <= greatest && max >= least)
    }

    /// Whether every row is known to have a number of the column from `least` to `greatest`.
    pub(crate) fn holds_only(&self, column: usize, least: i64, greatest: i64) -> bool {
        let Part::Group { segment, group, .. } = &self.source else { return false };
        let bounds = segment.integer_bounds(*group, column);
        !segment.may_miss(column) && bounds.is_some_and(|(min, max)| least <= min && max <= greatest)
    }

    /// Whether a row may have no value in a column, as far as is known without reading.
    pub(crate) fn may_miss(&self, column: usize) -> bool {
        match &self.source {
            Part::Group { segment, group, .. } => segment.misses(*group, column),
            Part::Memory { .. } => true,
        }
    }

    /// Whether a text of the column may be this one, as far as is known without reading.
    #[must_use]
    pub fn may_hold_text(&self, column: usize, text: &str) -> bool {
        let Part::Group { segment, group, .. } = &self.source else { return true };
        let text = text.as_bytes();
        segment.text_bounds(*group, column).is_none_or(|(min, max)| min <= text && text <= max)
    }

    /// Whether all its times are known to be in a range.
    pub(crate) fn is_within(&self, range: TimeRange) -> bool {
        let is_in = |time: i64| (range.from.0..=range.to.0).contains(&time.cast_unsigned());
        self.integer_bounds(TIME).is_some_and(|(min, max)| is_in(min) && is_in(max))
    }

    /// The first and the last of its times, where they are known without reading.
    pub(crate) fn times(&self) -> Option<(Nanos, Nanos)> {
        let time = |time: i64| Nanos(u64::try_from(time).unwrap_or(0));
        self.integer_bounds(TIME).map(|(first, last)| (time(first), time(last)))
    }

    /// The least and the greatest number of a column, where they are known without reading.
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

/// Every table begins with its time.
const TIME: usize = 0;
