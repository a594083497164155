//! Columns of the same rows that others are computed from.

use std::rc::Rc;

use crate::history::ColumnData;

/// Columns of some rows of a row group, decoded once for all columns that are computed from them.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// The columns of the table to keep.
    wanted: Vec<usize>,
    columns: Vec<(usize, ColumnData)>,
    /// The anchors of timestamps.
    pub(super) anchors: Option<Rc<ColumnData>>,
}

impl Kept {
    /// Keeps these columns of the table.
    pub(super) fn of(wanted: Vec<usize>) -> Self {
        Self { wanted, columns: Vec::new(), anchors: None }
    }

    pub(super) fn find(&self, column: usize) -> Option<&ColumnData> {
        self.columns.iter().find(|(kept, _)| *kept == column).map(|(_, data)| data)
    }

    /// Keeps a column, if it is wanted.
    pub(super) fn keep(&mut self, column: usize, data: &ColumnData) {
        if self.wanted.contains(&column) {
            self.columns.push((column, data.clone()));
        }
    }
}
