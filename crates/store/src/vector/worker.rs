//! One thread of a question: it reads chunks, tests their rows, and aggregates groups.

use std::collections::VecDeque;
use std::rc::Rc;

use super::aggregate::State;
use super::column::Column;
use super::context::Context;
use super::filter::{TextTest, end, number_test, passing};
use super::groups::{Groups, Run};
use super::plan::{Plan, Test};
use super::scalar::Scalar;
use super::source::{ROWS_AT_ONCE, Source, holds_for_all, wanted};
use super::stop::Stop;
use super::words::Met;
use crate::ahead::Ahead;
use crate::budget::Charge;
use crate::history::ValueTest;
use crate::segment::Kept;

/// The result of one thread.
pub(super) struct Part {
    pub(super) groups: Groups,
    pub(super) states: Vec<State>,
    /// Ungrouped rows, by the number of their chunk.
    pub(super) lists: Vec<(usize, Vec<Column>)>,
    pub(super) charge: Charge,
}

/// A column of a chunk that was read for a test.
struct Read {
    column: Column,
    /// The rows that it has the values of, in ascending order; `None`: all.
    rows: Option<Rc<[u32]>>,
}

impl Read {
    /// The values in these of its rows, or in all.
    fn in_rows(&self, rows: Option<&[u32]>) -> Column {
        match (rows, &self.rows) {
            (None, _) => self.column.clone(),
            (Some(rows), None) => self.column.pick(rows),
            (Some(rows), Some(own)) if rows.len() == own.len() => self.column.clone(),
            (Some(rows), Some(own)) => {
                let mut own = (0..).zip(own.iter());
                let place = |row: &u32| own.find(|(_, own)| *own == row).map(|(place, _)| place);
                self.column.pick(&rows.iter().filter_map(place).collect::<Vec<u32>>())
            }
        }
    }
}

/// A chunk whose rows passed the first test.
struct Tested {
    part: usize,
    count: usize,
    /// The number of tests that are done.
    tests: usize,
    /// The rows that passed them; `None`: all.
    rows: Option<Vec<u32>>,
    /// By column, those that were read for tests.
    read: Vec<Option<Read>>,
    charge: Charge,
}

/// A thread with the state of its chunk.
pub(super) struct Worker<'a> {
    plan: &'a Plan,
    context: &'a Context<'a>,
    source: &'a Source<'a>,
    part: Part,
    /// Columns that are read for rows that passed the tests.
    wanted: Vec<usize>,
    found: Vec<Run>,
    met: Met,
    /// Bytes of the texts that this thread was the first to number.
    words_bytes: usize,
}

impl<'a> Worker<'a> {
    pub(super) fn new(plan: &'a Plan, context: &'a Context<'a>, source: &'a Source<'a>) -> Self {
        let states = State::of_all(plan.aggregates.iter().flatten());
        let charge = Charge::new(context.budget);
        let part = Part { groups: Groups::new(plan.keys.len()), states, lists: Vec::new(), charge };
        let (wanted, met) = (wanted(plan), Met::none_of(&context.words));
        Self { plan, context, source, part, wanted, found: Vec::new(), met, words_bytes: 0 }
    }

    /// Processes chunks until none is left.
    pub(super) fn work(mut self, ahead: &Ahead<'_>) -> Result<Part, Stop> {
        let parts = self.source.parts();
        // The rows of one chunk are read while the disk reads those of the next ones.
        let mut waiting: VecDeque<Tested> = VecDeque::new();
        loop {
            let part = ahead.take();
            if part >= parts {
                break;
            }
            if self.context.budget.is_late() {
                return Err(Stop::Late);
            }
            waiting.extend(self.test(part)?);
            if waiting.len() > MAX_WAITING || waiting.back().is_some_and(|tested| tested.rows.is_none()) {
                waiting.pop_front().map_or(Ok(()), |tested| self.finish(tested))?;
            }
        }
        for tested in waiting {
            self.finish(tested)?;
        }
        Ok(self.part)
    }

    /// Tests the rows of a chunk with the first test that not all of them are known to pass, and announces
    /// the columns to read; `None` if no rows passed, or the column is damaged.
    fn test(&mut self, part: usize) -> Result<Option<Tested>, Stop> {
        let (count, width) = match self.source {
            Source::Table { shape, chunks } => (chunks[part].rows(), shape.columns.len()),
            Source::Columns { columns, rows } => {
                ((rows - part * ROWS_AT_ONCE).min(ROWS_AT_ONCE), columns.len())
            }
        };
        let read = (0..width).map(|_| None).collect();
        let charge = Charge::new(self.context.budget);
        let mut tested = Tested { part, count, tests: 0, rows: None, read, charge };
        if !self.test_rows(&mut tested, 1)? {
            return Ok(None);
        }
        if let (Source::Table { chunks, .. }, true) = (self.source, tested.rows.is_some()) {
            let tests = self.plan.tests[tested.tests..].iter().filter(|test| !self.holds_for_all(part, test));
            let columns: Vec<usize> = tests.map(Test::column).chain(self.wanted.iter().copied()).collect();
            chunks[part].announce(&columns);
        }
        Ok(Some(tested))
    }

    /// Tests rows with at most `most` further tests, besides those that all rows are known to pass; `false`
    /// if no rows passed, or a column is damaged.
    fn test_rows(&mut self, tested: &mut Tested, most: usize) -> Result<bool, Stop> {
        let mut left = most;
        while let Some(test) = self.plan.tests.get(tested.tests).filter(|_| left > 0) {
            tested.tests += 1;
            if self.holds_for_all(tested.part, test) {
                continue;
            }
            left -= 1;
            let rows = tested.rows.take();
            let (read, charge) = (&mut tested.read, &mut tested.charge);
            tested.rows = self.tested(tested.part, test, rows, tested.count, read, charge)?;
            if tested.rows.as_ref().is_none_or(Vec::is_empty) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Processes the rows that pass all tests.
    fn finish(&mut self, mut tested: Tested) -> Result<(), Stop> {
        if !self.test_rows(&mut tested, usize::MAX)? {
            return Ok(());
        }
        let Tested { part, count, rows, read, mut charge, .. } = tested;
        // The values of the rows that passed, one after another.
        let mut columns: Vec<Option<Column>> = vec![None; read.len()];
        let mut kept = match self.source {
            Source::Table { chunks, .. } => chunks[part].kept_for(&self.wanted),
            Source::Columns { .. } => Kept::default(),
        };
        for column in self.wanted.clone() {
            columns[column] = match &read[column] {
                Some(read) => Some(read.in_rows(rows.as_deref())),
                None => self.read(part, column, rows.as_deref(), count, &mut kept, &mut charge)?,
            };
            if columns[column].is_none() {
                return Ok(());
            }
        }
        let rows = rows.map_or(count, |rows| rows.len());
        let keys =
            self.plan.keys.iter().map(|key| key.column(&columns, rows)).collect::<Result<Vec<_>, _>>()?;
        let Some(aggregates) = &self.plan.aggregates else {
            let bytes = keys.iter().map(Column::bytes).sum();
            self.part.charge.add(bytes).then_some(()).ok_or(Stop::GiveUp)?;
            self.part.lists.push((part, keys));
            return Ok(());
        };
        self.found.clear();
        let Part { groups, states, .. } = &mut self.part;
        if keys.is_empty() {
            groups.find(&[0]).ok_or(Stop::GiveUp)?;
            self.found.push(Run { group: 0, rows });
        } else {
            groups.add(&keys, rows, &mut self.found).ok_or(Stop::GiveUp)?;
        }
        // Aggregates of the same column share its values.
        let mut last: Option<(&Scalar, Column)> = None;
        for (aggregate, state) in aggregates.iter().zip(states.iter_mut()) {
            let column = match (aggregate.argument(), &last) {
                (None, _) => None,
                (Some(of), Some((same, column))) if of == *same => Some(column.clone()),
                (Some(of), _) => {
                    let column = of.column(&columns, rows)?;
                    last = Some((of, column.clone()));
                    Some(column)
                }
            };
            state.add(&self.found, column.as_ref(), groups.len())?;
        }
        let bytes = groups.bytes() + states.iter().map(State::bytes).sum::<usize>() + self.words_bytes;
        self.part.charge.set(bytes).then_some(()).ok_or(Stop::GiveUp)
    }

    /// The rows of a chunk of `count` rows that pass a test, out of those that passed the previous ones;
    /// `None` if the column is damaged.
    fn tested(
        &mut self,
        part: usize,
        test: &Test,
        rows: Option<Vec<u32>>,
        count: usize,
        read: &mut [Option<Read>],
        charge: &mut Charge,
    ) -> Result<Option<Vec<u32>>, Stop> {
        let column = test.column();
        let first = (rows.as_deref(), end(rows.as_deref(), count));
        if let Source::Table { chunks, .. } = self.source
            && read[column].is_none()
        {
            let (history, chunk) = (self.context.history, &chunks[part]);
            let text = TextTest::of(test);
            let found = match (&text, number_test(test)) {
                (Some(text), _) => {
                    history.rows_with(chunk, column, first.0, ValueTest::Text(&|word| text.holds(word)))
                }
                // Numbers that are wanted anyway are read once.
                (None, Some(holds)) if !self.wanted.contains(&column) => {
                    let test = match test {
                        Test::Range(_, least, greatest) => ValueTest::Range(*least, *greatest),
                        _ => ValueTest::Number(&holds),
                    };
                    history.rows_with(chunk, column, first.0, test)
                }
                _ => Some(None),
            };
            match found {
                Some(None) => {}
                Some(found) => return Ok(found),
                None => return Ok(None),
            }
            if let Some(text) = text {
                // Texts of rows that do not pass need no number.
                let mut kept = Kept::default();
                let Some(data) = history.first_of_column(chunk, column, first.1, &mut kept) else {
                    return Ok(None);
                };
                let is_room = self.context.budget.has(data.bytes());
                return is_room.then(|| Some(text.passing(&data, rows))).ok_or(Stop::GiveUp);
            }
        }
        let among = rows.as_deref();
        let values = match &read[column] {
            Some(read) => read.in_rows(among),
            None => {
                let Some(values) = self.read(part, column, among, count, &mut Kept::default(), charge)?
                else {
                    return Ok(None);
                };
                read[column] = Some(Read { column: values.clone(), rows: among.map(Rc::from) });
                values
            }
        };
        Ok(Some(passing(test, &values, rows, &self.context.words)))
    }

    /// The values of a column in some rows of a chunk, one after another, or in all of its `count` rows;
    /// `None` if it is damaged.
    fn read(
        &mut self,
        part: usize,
        column: usize,
        rows: Option<&[u32]>,
        count: usize,
        kept: &mut Kept,
        charge: &mut Charge,
    ) -> Result<Option<Column>, Stop> {
        let (read, bytes) = match self.source {
            Source::Table { chunks, .. } => {
                let (history, chunk) = (self.context.history, &chunks[part]);
                let data = match rows {
                    Some(rows) => history.rows_of_column_keeping(chunk, column, rows, kept),
                    None => history.first_of_column(chunk, column, count, kept),
                };
                let Some(data) = data else { return Ok(None) };
                Column::of(data, &self.context.words, &mut self.met)
            }
            Source::Columns { columns, rows: all } => {
                let start = part * ROWS_AT_ONCE;
                let column = columns[column].part(start..(start + ROWS_AT_ONCE).min(*all));
                (Read { column, rows: None }.in_rows(rows), 0)
            }
        };
        self.words_bytes += bytes;
        let is_room = charge.add(read.bytes() + bytes);
        is_room.then_some(Some(read)).ok_or(Stop::GiveUp)
    }

    /// Whether all rows of a chunk are known to pass a test.
    fn holds_for_all(&self, part: usize, test: &Test) -> bool {
        matches!(self.source, Source::Table { chunks, .. } if holds_for_all(&chunks[part], test))
    }
}

/// Chunks whose rows were tested and are not yet read.
const MAX_WAITING: usize = 4;
