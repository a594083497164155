//! The result of a plan: a column per slot.

use super::column::Column;

/// The values of all slots, for each group or row.
#[derive(Debug, Default)]
pub(super) struct Slots {
    pub(super) rows: usize,
    pub(super) columns: Vec<SlotColumn>,
}

#[derive(Debug)]
pub(super) enum SlotColumn {
    Numbers(Column),
    Fractions(Vec<Option<f64>>),
}
