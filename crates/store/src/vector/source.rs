//! The rows that a plan reads.

use inband_model::table::Shape;

use super::column::Column;
use super::plan::{Aggregate, Plan, Test};
use crate::ahead::Ahead;
use crate::history::Chunk;
use crate::range::TimeRange;

/// The rows a plan reads.
pub(super) enum Source<'a> {
    Table { shape: &'a Shape, chunks: Vec<Chunk> },
    Columns { columns: Vec<Column>, rows: usize },
}

impl Source<'_> {
    pub(super) fn parts(&self) -> usize {
        match self {
            Self::Table { chunks, .. } => chunks.len(),
            Self::Columns { rows, .. } => rows.div_ceil(ROWS_AT_ONCE),
        }
    }

    /// The chunks, of which the columns of the first test are read in any case.
    pub(super) fn ahead(&self, plan: &Plan) -> Ahead<'_> {
        let chunks = match self {
            Self::Table { chunks, .. } => &chunks[..],
            Self::Columns { .. } => &[],
        };
        let first = plan.tests.iter().find(|test| !chunks.iter().all(|chunk| holds_for_all(chunk, test)));
        Ahead::of(chunks, first.map_or_else(|| wanted(plan), |test| vec![test.column()]))
    }
}

/// Whether all rows of a chunk are known to pass a test.
pub(super) fn holds_for_all(chunk: &Chunk, test: &Test) -> bool {
    matches!(test, Test::Range(column, least, greatest) if chunk.holds_only(*column, *least, *greatest))
}

/// The columns that are read for rows that passed the tests.
pub(super) fn wanted(plan: &Plan) -> Vec<usize> {
    let mut wanted = Vec::new();
    let arguments = plan.aggregates.iter().flatten().filter_map(Aggregate::argument);
    plan.keys.iter().chain(arguments).for_each(|scalar| scalar.add_columns(&mut wanted));
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// Whether a chunk may hold rows that pass all tests.
pub(super) fn may_hold(chunk: &Chunk, tests: &[Test]) -> bool {
    tests.iter().all(|test| match test {
        Test::Range(column, least, greatest) => {
            least <= greatest && chunk.may_hold(*column, *least, *greatest)
        }
        Test::OneOf(column, numbers) => {
            numbers.iter().any(|number| chunk.may_hold(*column, *number, *number))
        }
        Test::TextOneOf(column, texts) => texts.iter().any(|text| chunk.may_hold_text(*column, text)),
        Test::IsNull(column, true) => chunk.may_miss(*column),
        Test::Not(..) | Test::IsNull(..) | Test::TextNot(..) | Test::TextHolds(..) => true,
    })
}

/// The range of matching times: the time is the first column of every table.
pub(super) fn times(tests: &[Test]) -> TimeRange {
    let mut range = TimeRange::ALL;
    for test in tests {
        if let Test::Range(0, least, greatest) = test {
            range.narrow(*least, *greatest);
        }
    }
    range
}

/// Rows of an inner question's answer that are processed at once.
pub(super) const ROWS_AT_ONCE: usize = 65_536;
