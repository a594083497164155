//! Reading of a table's rows for SQLite: chunk by chunk, or all at once if groups must be contiguous.

use std::collections::HashMap;
use std::sync::Arc;

use inband_model::table::Shape;

use super::plan::{Plan, Wanted};
use crate::budget::Budget;
use crate::history::{Chunk, ColumnData, History, Value};
use crate::question::QueryError;
use crate::range::TimeRange;

/// Reads rows of one table.
pub(crate) struct Scan {
    history: Arc<History>,
    shape: Arc<Shape>,
    budget: Arc<Budget>,
    chunks: std::vec::IntoIter<Chunk>,
    wanted: Vec<Wanted>,
    /// The columns that are read.
    columns: Vec<usize>,
    page: Page,
    /// The next row, as an index into the order of the page.
    at: usize,
}

/// Rows in memory.
#[derive(Default)]
struct Page {
    /// The columns of the table; `None` for those that are not read.
    columns: Vec<Option<ColumnData>>,
    /// The matching rows, in output order.
    order: Vec<u32>,
    ids: Ids,
    bytes: usize,
}

/// The numbers of the rows in memory.
enum Ids {
    Of(Chunk),
    Each(Vec<i64>),
}

impl Default for Ids {
    fn default() -> Ids {
        Ids::Each(Vec::new())
    }
}

impl Scan {
    pub(crate) fn new(history: Arc<History>, shape: Arc<Shape>, budget: Arc<Budget>) -> Scan {
        let (chunks, wanted, columns) = (Vec::new().into_iter(), Vec::new(), Vec::new());
        Scan { history, shape, budget, chunks, wanted, columns, page: Page::default(), at: 0 }
    }

    /// Starts a new scan for rows that match.
    pub(crate) fn begin(&mut self, plan: &Plan, wanted: Vec<Wanted>) -> rusqlite::Result<()> {
        let range = times(&wanted);
        let chunks = self
            .history
            .chunks(&self.shape, range)
            .map_err(|error| self.budget.fail(QueryError::Store(error)))?;
        let chunks: Vec<_> = chunks.into_iter().filter(|chunk| may_hold(chunk, &wanted)).collect();
        let compared = wanted.iter().map(|wanted| match wanted {
            Wanted::Integers(column, ..) | Wanted::Text(column, _) => *column,
        });
        self.columns = plan.columns(&self.shape);
        self.columns.extend(compared);
        self.columns.sort_unstable();
        self.columns.dedup();
        self.wanted = wanted;
        self.chunks = chunks.into_iter();
        self.release();
        if plan.group.is_empty() { self.turn() } else { self.gather(&plan.group) }
    }

    pub(crate) fn advance(&mut self) -> rusqlite::Result<()> {
        self.at += 1;
        if self.at < self.page.order.len() { Ok(()) } else { self.turn() }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.page.order.len()
    }

    /// The number of the current row: SQLite takes two rows with the same number for one, also those of
    /// different scans.
    pub(crate) fn row_number(&self) -> i64 {
        let row = self.page.order[self.at];
        match &self.page.ids {
            Ids::Of(chunk) => chunk.row_id(row),
            Ids::Each(ids) => ids[row as usize],
        }
    }

    /// The value of a column in the current row.
    pub(crate) fn value(&self, column: usize) -> Value<'_> {
        let row = self.page.order[self.at] as usize;
        self.page.columns.get(column).and_then(Option::as_ref).map_or(Value::Missing, |data| data.value(row))
    }

    /// Advances to the next chunk with a matching row.
    fn turn(&mut self) -> rusqlite::Result<()> {
        self.release();
        while self.page.order.is_empty() {
            let Some(chunk) = self.chunks.next() else { break };
            self.release();
            self.page = self.read(&chunk)?.unwrap_or_default();
        }
        Ok(())
    }

    /// Reads all chunks and groups equal values.
    fn gather(&mut self, group: &[usize]) -> rusqlite::Result<()> {
        let mut all = Page { columns: vec![None; self.shape.columns.len()], ..Page::default() };
        let mut groups = Groups::default();
        let mut ids = Vec::new();
        for chunk in std::mem::take(&mut self.chunks) {
            let Some(page) = self.read(&chunk)? else { continue };
            // What was read is kept, and so is its charge.
            all.bytes += page.bytes;
            let known = groups.known.len();
            for row in &page.order {
                groups.add(key(&page, group, *row as usize));
            }
            ids.extend(page.order.iter().map(|row| chunk.row_id(*row)));
            let more = page.order.len() * (size_of::<u32>() + size_of::<i64>())
                + (groups.known.len() - known) * size_of::<(Key, u32)>();
            all.bytes += more;
            self.budget.demand(more)?;
            for column in &self.columns {
                if let (Some(data), whole) = (&page.columns[*column], &mut all.columns[*column]) {
                    append(whole, data, &page.order);
                }
            }
        }
        all.order = groups.order();
        all.ids = Ids::Each(ids);
        self.page = all;
        self.at = 0;
        Ok(())
    }

    /// Reads the rows of a chunk; `None` if a needed column is damaged.
    fn read(&self, chunk: &Chunk) -> rusqlite::Result<Option<Page>> {
        self.budget.check_time()?;
        let mut columns = vec![None; self.shape.columns.len()];
        let mut bytes = chunk.rows() * size_of::<u32>();
        for column in &self.columns {
            let Some(data) = self.history.column(chunk, *column) else { return Ok(None) };
            bytes += data.bytes();
            columns[*column] = Some(data);
        }
        self.budget.demand(bytes)?;
        let order = wanted_rows(&columns, &self.wanted, chunk.rows());
        Ok(Some(Page { columns, order, ids: Ids::Of(chunk.clone()), bytes }))
    }

    fn release(&mut self) {
        self.budget.give_back(self.page.bytes);
        self.page = Page::default();
        self.at = 0;
    }
}

impl Drop for Scan {
    fn drop(&mut self) {
        self.release();
    }
}

/// The values of the GROUP BY columns.
type Key = [Option<i64>; MAX_GROUPED];

fn key(page: &Page, group: &[usize], row: usize) -> Key {
    let mut key = [None; MAX_GROUPED];
    for (part, column) in key.iter_mut().zip(group) {
        *part = page.columns[*column].as_ref().and_then(|data| data.integer(row));
    }
    key
}

/// Assigns rows to groups.
#[derive(Default)]
struct Groups {
    known: HashMap<Key, u32>,
    /// The group of each row.
    of_rows: Vec<u32>,
    /// The group of the previous row, which the next one often shares.
    last: Option<(Key, u32)>,
}

impl Groups {
    fn add(&mut self, key: Key) {
        let group = match self.last {
            Some((same, group)) if same == key => group,
            _ => {
                let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
                *self.known.entry(key).or_insert(next)
            }
        };
        self.last = Some((key, group));
        self.of_rows.push(group);
    }

    /// The rows, group by group in order of the groups' values.
    fn order(&self) -> Vec<u32> {
        let mut groups: Vec<(&Key, u32)> = self.known.iter().map(|(key, group)| (key, *group)).collect();
        groups.sort_unstable();
        let mut sizes = vec![0; groups.len()];
        for group in &self.of_rows {
            sizes[*group as usize] += 1;
        }
        let mut places = vec![0; groups.len()];
        let mut place = 0_usize;
        for (_, group) in groups {
            places[group as usize] = place;
            place += sizes[group as usize];
        }
        let mut order = vec![0; self.of_rows.len()];
        for (row, group) in (0..).zip(&self.of_rows) {
            let place = &mut places[*group as usize];
            order[*place] = row;
            *place += 1;
        }
        order
    }
}

/// Appends the matching rows to a column.
fn append(whole: &mut Option<ColumnData>, data: &ColumnData, rows: &[u32]) {
    let rows = rows.iter().map(|row| *row as usize);
    match (whole, data) {
        (whole @ None, data) => *whole = Some(data.pick(rows)),
        (Some(whole), data) => whole.append(data, rows),
    }
}

fn wanted_rows(columns: &[Option<ColumnData>], wanted: &[Wanted], rows: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..u32::try_from(rows).unwrap_or(u32::MAX)).collect();
    for wanted in wanted {
        match wanted {
            Wanted::Integers(column, least, greatest) => {
                let Some(data) = &columns[*column] else { continue };
                order.retain(|row| match data.value(*row as usize) {
                    Value::Integer(number) => (*least..=*greatest).contains(&number),
                    _ => false,
                });
            }
            Wanted::Text(column, text) => {
                let Some(ColumnData::Texts { codes, words }) = &columns[*column] else { continue };
                // Other programs may store a word several times.
                let is_wanted: Vec<bool> = words.iter().map(|word| word == &**text).collect();
                let is_wanted = |code: u32| is_wanted.get(code as usize).copied().unwrap_or(false);
                order.retain(|row| codes[*row as usize].is_some_and(is_wanted));
            }
        }
    }
    order
}

fn may_hold(chunk: &Chunk, wanted: &[Wanted]) -> bool {
    wanted.iter().all(|wanted| match wanted {
        Wanted::Integers(column, least, greatest) => chunk.may_hold(*column, *least, *greatest),
        Wanted::Text(column, text) => chunk.may_hold_text(*column, text),
    })
}

/// The range of matching times: the time is the first column of every table.
fn times(wanted: &[Wanted]) -> TimeRange {
    let mut range = TimeRange::ALL;
    for wanted in wanted {
        if let Wanted::Integers(0, least, greatest) = wanted {
            range.narrow(*least, *greatest);
        }
    }
    range
}

/// Maximum GROUP BY columns that avoid SQLite's own sort.
pub(crate) const MAX_GROUPED: usize = 3;

#[cfg(test)]
mod tests;
