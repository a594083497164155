//! A roll-up in progress.

use std::fmt::Debug;
use std::ops::Range;

use inband_model::HopColumns;

/// Counts of reports, from which the rows of one table are made.
pub(crate) trait RollUp: Debug + Default {
    /// A row of the table.
    type Row: Debug;

    /// Counts some reports.
    fn add(&mut self, hops: &HopColumns, reports: Range<usize>);

    /// The rows of what has been counted, in the order of the table.
    fn rows(&mut self) -> Vec<Self::Row>;

    /// Bytes of memory, approximately.
    fn bytes(&self) -> usize;
}
