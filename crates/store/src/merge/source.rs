//! A file that is merged.

use std::cmp::Ordering;
use std::path::PathBuf;

use crate::error::StoreError;
use crate::history::{ColumnData, Value};
use crate::segment::SegmentReader;

/// A file that is read in key order, one row group at a time.
pub(super) struct Source {
    segment: SegmentReader,
    path: PathBuf,
    /// The columns of the key, in sort order.
    keys: Vec<usize>,
    /// The number of columns.
    width: usize,
    columns: Vec<ColumnData>,
    /// The order of the current rows; `None`: as stored.
    order: Option<Vec<u32>>,
    rows: usize,
    row: usize,
    next_group: usize,
}

impl Source {
    /// Opens a file of `width` columns whose rows are sorted by `keys`.
    pub(super) fn new(
        segment: SegmentReader,
        path: PathBuf,
        keys: &[usize],
        width: usize,
    ) -> Result<Self, StoreError> {
        let mut source = Self {
            segment,
            path,
            keys: keys.to_vec(),
            width,
            columns: Vec::new(),
            order: None,
            rows: 0,
            row: 0,
            next_group: 0,
        };
        if !source.is_sorted()? {
            // Earlier versions wrote rows in a different order: such a file is sorted in memory.
            while source.next_group < source.segment.row_groups() {
                let group = source.read(source.next_group)?;
                source.next_group += 1;
                match source.columns.is_empty() {
                    true => source.columns = group,
                    false => {
                        for (column, more) in source.columns.iter_mut().zip(&group) {
                            column.append(more, 0..more.len());
                        }
                    }
                }
            }
            source.rows = source.columns.first().map_or(0, ColumnData::len);
            let mut order: Vec<u32> = (0..u32::try_from(source.rows).unwrap_or(u32::MAX)).collect();
            order.sort_by(|one, other| source.compare_rows(*one as usize, *other as usize));
            source.order = Some(order);
        }
        source.turn()?;
        Ok(source)
    }

    /// Whether all rows are in ascending key order.
    fn is_sorted(&self) -> Result<bool, StoreError> {
        let mut last: Option<Vec<Option<i64>>> = None;
        for group in 0..self.segment.row_groups() {
            let keys: Vec<ColumnData> =
                self.keys.iter().map(|key| self.column(group, *key)).collect::<Result<_, _>>()?;
            for row in 0..self.segment.rows(group) {
                let key: Vec<Option<i64>> = keys.iter().map(|key| key.integer(row)).collect();
                if last.is_some_and(|last| last > key) {
                    return Ok(false);
                }
                last = Some(key);
            }
        }
        Ok(true)
    }

    fn column(&self, group: usize, column: usize) -> Result<ColumnData, StoreError> {
        self.segment.column(group, column).map_err(StoreError::segment("read", &self.path))
    }

    fn read(&self, group: usize) -> Result<Vec<ColumnData>, StoreError> {
        (0..self.width).map(|column| self.column(group, column)).collect()
    }

    fn compare_rows(&self, one: usize, other: usize) -> Ordering {
        let value = |row: usize, key: usize| self.columns[key].value(row);
        let keys = self.keys.iter().map(|key| value(one, *key).cmp(&value(other, *key)));
        keys.fold(Ordering::Equal, Ordering::then)
    }

    /// Loads the next row group if the current one has ended.
    fn turn(&mut self) -> Result<(), StoreError> {
        while self.row >= self.rows && self.next_group < self.segment.row_groups() {
            self.columns = self.read(self.next_group)?;
            self.rows = self.segment.rows(self.next_group);
            self.row = 0;
            self.next_group += 1;
        }
        Ok(())
    }

    /// Goes to the next row.
    pub(super) fn advance(&mut self) -> Result<(), StoreError> {
        self.row += 1;
        self.turn()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.row >= self.rows
    }

    /// A value of the current row.
    pub(super) fn value(&self, column: usize) -> Value<'_> {
        let row = self.order.as_ref().map_or(self.row, |order| order[self.row] as usize);
        self.columns[column].value(row)
    }
}

/// The order of the current rows of two files of a table.
pub(super) fn compare(one: &Source, other: &Source) -> Ordering {
    let keys = one.keys.iter().map(|key| one.value(*key).cmp(&other.value(*key)));
    keys.fold(Ordering::Equal, Ordering::then)
}
