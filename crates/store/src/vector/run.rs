//! Execution of a plan: two threads read chunks, test the rows, and aggregate groups.

use std::sync::Arc;
use std::thread;

use inband_model::Nanos;
use inband_model::table::Shape;

use super::aggregate::{Outcome, State};
use super::column::Column;
use super::groups::Groups;
use super::output::arranged;
use super::plan::{Aggregate, Input, Plan, Test};
use super::scalar::{Rows, Scalar};
use super::slots::{SlotColumn, Slots};
use super::stop::Stop;
use super::words::{Letters, Met, Words, letters};
use crate::ahead::Ahead;
use crate::budget::{Budget, Charge};
use crate::history::{Chunk, ColumnData, History, ValueTest};
use crate::question::QueryError;
use crate::range::TimeRange;

/// The environment of a question.
pub(super) struct Context<'a> {
    pub(super) history: &'a History,
    pub(super) budget: &'a Arc<Budget>,
    pub(super) words: Words,
}

/// The rows a plan reads.
enum Source<'a> {
    Table { shape: &'a Shape, chunks: Vec<Chunk> },
    Columns { columns: Vec<Column>, rows: usize },
}

/// Why there is no answer: history cannot be read, or another reason.
pub(super) enum Failure {
    Store(crate::error::StoreError),
    Stop(Stop),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// The slots of a plan's groups or rows.
pub(super) fn run(plan: &Plan, context: &Context<'_>, charge: &mut Charge) -> Result<Slots, Failure> {
    let source = match &plan.input {
        Input::Table(shape) => {
            let chunks = context.history.chunks(shape, times(&plan.tests)).map_err(Failure::Store)?;
            Source::Table {
                shape,
                chunks: chunks.into_iter().filter(|chunk| may_hold(chunk, &plan.tests)).collect(),
            }
        }
        Input::Plan(inner) => {
            let slots = run(inner, context, charge)?;
            let slots = arranged(inner, slots, &context.words);
            let columns = inner.outputs.iter().map(|(_, slot)| match &slots.columns[*slot] {
                SlotColumn::Numbers(column) => Ok(column.clone()),
                SlotColumn::Fractions(_) => Err(Stop::GiveUp),
            });
            Source::Columns { columns: columns.collect::<Result<_, _>>()?, rows: slots.rows }
        }
    };
    let ahead = source.ahead(plan);
    let parts = thread::scope(|scope| {
        let work = || Worker::new(plan, context, &source).work(&ahead);
        let threads = source.parts().min(MAX_THREADS);
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut parts = vec![work()];
        parts.extend(others.into_iter().map(|other| other.join().unwrap_or(Err(Stop::GiveUp))));
        parts.into_iter().collect::<Result<Vec<_>, _>>()
    })?;
    Ok(match &plan.aggregates {
        Some(aggregates) => grouped(parts, aggregates, plan.keys.len(), charge)?,
        None => listed(parts, plan.keys.len(), charge)?,
    })
}

impl Source<'_> {
    fn parts(&self) -> usize {
        match self {
            Self::Table { chunks, .. } => chunks.len(),
            Self::Columns { rows, .. } => rows.div_ceil(ROWS_AT_ONCE),
        }
    }

    /// The chunks, of which the columns of the first test are read in any case.
    fn ahead(&self, plan: &Plan) -> Ahead<'_> {
        let chunks = match self {
            Self::Table { chunks, .. } => &chunks[..],
            Self::Columns { .. } => &[],
        };
        let first = plan.tests.iter().find(|test| !chunks.iter().all(|chunk| holds_for_all(chunk, test)));
        Ahead::of(chunks, first.map_or_else(|| wanted(plan), |test| vec![test.column()]))
    }
}

/// The result of one thread.
struct Part {
    groups: Groups,
    states: Vec<State>,
    /// Ungrouped rows, by the number of their chunk.
    lists: Vec<(usize, Vec<Column>)>,
    charge: Charge,
}

struct Worker<'a> {
    plan: &'a Plan,
    context: &'a Context<'a>,
    source: &'a Source<'a>,
    part: Part,
    /// Columns that are read for rows that passed the tests.
    wanted: Vec<usize>,
    found: Vec<u32>,
    met: Met,
    /// Bytes of the texts that this thread was the first to number.
    words_bytes: usize,
}

impl<'a> Worker<'a> {
    fn new(plan: &'a Plan, context: &'a Context<'a>, source: &'a Source<'a>) -> Self {
        let states = plan.aggregates.iter().flatten().map(State::of).collect();
        let charge = Charge::new(context.budget);
        let part = Part { groups: Groups::new(plan.keys.len()), states, lists: Vec::new(), charge };
        let wanted = wanted(plan);
        Self { plan, context, source, part, wanted, found: Vec::new(), met: Met::default(), words_bytes: 0 }
    }

    fn work(mut self, ahead: &Ahead<'_>) -> Result<Part, Stop> {
        let parts = self.source.parts();
        loop {
            let part = ahead.take();
            if part >= parts {
                return Ok(self.part);
            }
            if self.context.budget.is_late() {
                return Err(Stop::Late);
            }
            self.take(part)?;
        }
    }

    /// Processes the rows of a chunk.
    fn take(&mut self, part: usize) -> Result<(), Stop> {
        let (count, width) = match self.source {
            Source::Table { shape, chunks } => (chunks[part].rows(), shape.columns.len()),
            Source::Columns { columns, rows } => {
                ((rows - part * ROWS_AT_ONCE).min(ROWS_AT_ONCE), columns.len())
            }
        };
        let mut columns: Vec<Option<Column>> = vec![None; width];
        let mut charge = Charge::new(self.context.budget);
        let mut rows: Option<Vec<u32>> = None;
        for test in &self.plan.tests {
            if self.holds_for_all(part, test) {
                continue;
            }
            let Some(found) = self.tested(part, test, rows, count, &mut columns, &mut charge)? else {
                return Ok(());
            };
            if found.is_empty() {
                return Ok(());
            }
            rows = Some(found);
        }
        let first = (rows.as_deref(), end(rows.as_deref(), count));
        if let (Source::Table { chunks, .. }, true) = (self.source, rows.is_some()) {
            chunks[part].announce(&self.wanted);
        }
        for column in self.wanted.clone() {
            if !self.read(part, column, &mut columns, first, &mut charge)? {
                return Ok(());
            }
        }
        let rows = rows.as_deref().map_or(Rows::All(count), Rows::Some);
        let keys =
            self.plan.keys.iter().map(|key| key.column(&columns, &rows)).collect::<Result<Vec<_>, _>>()?;
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
            self.found.resize(rows.len(), 0);
        } else {
            groups.add(&keys, rows.len(), &mut self.found).ok_or(Stop::GiveUp)?;
        }
        // Aggregates of the same column share its values.
        let mut last: Option<(&Scalar, Column)> = None;
        for (aggregate, state) in aggregates.iter().zip(states.iter_mut()) {
            let column = match (aggregate.argument(), &last) {
                (None, _) => None,
                (Some(of), Some((same, column))) if of == *same => Some(column.clone()),
                (Some(of), _) => {
                    let column = of.column(&columns, &rows)?;
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
        columns: &mut [Option<Column>],
        charge: &mut Charge,
    ) -> Result<Option<Vec<u32>>, Stop> {
        let column = test.column();
        let first = (rows.as_deref(), end(rows.as_deref(), count));
        if let Source::Table { chunks, .. } = self.source
            && columns[column].is_none()
        {
            let (history, chunk) = (self.context.history, &chunks[part]);
            let text = TextTest::of(test);
            let found = match (&text, number_test(test)) {
                (Some(text), _) => {
                    history.rows_with(chunk, column, first.0, ValueTest::Text(&|word| text.holds(word)))
                }
                // Numbers that are wanted anyway are read once.
                (None, Some(holds)) if !self.wanted.contains(&column) => {
                    history.rows_with(chunk, column, first.0, ValueTest::Number(&holds))
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
                let Some(data) = history.first_of_column(chunk, column, first.1) else { return Ok(None) };
                let is_room = self.context.budget.has(data.bytes());
                return is_room.then(|| Some(text.passing(&data, rows))).ok_or(Stop::GiveUp);
            }
        }
        if !self.read(part, column, columns, first, charge)? {
            return Ok(None);
        }
        let Some(column) = &columns[column] else { return Err(Stop::GiveUp) };
        Ok(Some(passing(test, column, rows, &self.context.words)))
    }

    /// Reads a column of a chunk up to the last of `rows`, entirely if there are none given; `false` if it is
    /// damaged.
    fn read(
        &mut self,
        part: usize,
        column: usize,
        columns: &mut [Option<Column>],
        (rows_wanted, end): (Option<&[u32]>, usize),
        charge: &mut Charge,
    ) -> Result<bool, Stop> {
        if columns[column].is_some() {
            return Ok(true);
        }
        let (read, bytes) = match self.source {
            Source::Table { chunks, .. } => {
                let (history, chunk) = (self.context.history, &chunks[part]);
                let data = match rows_wanted {
                    Some(rows) => history.rows_of_column(chunk, column, rows),
                    None => history.first_of_column(chunk, column, end),
                };
                let Some(data) = data else { return Ok(false) };
                Column::of(data, rows_wanted, &self.context.words, &mut self.met)
            }
            Source::Columns { columns, rows } => {
                let start = part * ROWS_AT_ONCE;
                (columns[column].part(start..(start + ROWS_AT_ONCE).min(*rows)), 0)
            }
        };
        self.words_bytes += bytes;
        let is_room = charge.add(read.bytes() + bytes);
        columns[column] = Some(read);
        is_room.then_some(true).ok_or(Stop::GiveUp)
    }

    /// Whether all rows of a chunk are known to pass a test.
    fn holds_for_all(&self, part: usize, test: &Test) -> bool {
        matches!(self.source, Source::Table { chunks, .. } if holds_for_all(&chunks[part], test))
    }
}

/// Whether all rows of a chunk are known to pass a test.
fn holds_for_all(chunk: &Chunk, test: &Test) -> bool {
    matches!(test, Test::Range(column, least, greatest) if chunk.holds_only(*column, *least, *greatest))
}

/// The columns that are read for rows that passed the tests.
fn wanted(plan: &Plan) -> Vec<usize> {
    let mut wanted = Vec::new();
    let arguments = plan.aggregates.iter().flatten().filter_map(Aggregate::argument);
    plan.keys.iter().chain(arguments).for_each(|scalar| scalar.add_columns(&mut wanted));
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// Whether a number passes a test; `None` for tests of texts and of missing values.
fn number_test(test: &Test) -> Option<impl Fn(i64) -> bool> {
    let is_of_numbers = matches!(test, Test::Range(..) | Test::Not(..) | Test::OneOf(..));
    is_of_numbers.then_some(move |value: i64| match test {
        Test::Range(_, least, greatest) => (*least..=*greatest).contains(&value),
        Test::Not(_, number) => value != *number,
        Test::OneOf(_, numbers) => numbers.contains(&value),
        _ => false,
    })
}

/// A test of texts, evaluated on the dictionary in place.
enum TextTest<'a> {
    OneOf(&'a [String]),
    Not(&'a str),
    Holds(&'a str),
}

impl<'a> TextTest<'a> {
    fn of(test: &'a Test) -> Option<Self> {
        match test {
            Test::TextOneOf(_, texts) => Some(Self::OneOf(texts)),
            Test::TextNot(_, text) => Some(Self::Not(text)),
            Test::TextHolds(_, part) => Some(Self::Holds(part)),
            _ => None,
        }
    }

    fn holds(&self, text: &str) -> bool {
        match self {
            Self::OneOf(texts) => texts.iter().any(|one| one == text),
            Self::Not(one) => *one != text,
            Self::Holds(part) => holds(text, part),
        }
    }

    /// The rows that pass, out of those that passed the previous tests.
    fn passing(&self, data: &ColumnData, rows: Option<Vec<u32>>) -> Vec<u32> {
        let ColumnData::Texts { codes, words } = data else { return Vec::new() };
        let pass: Vec<bool> = words.iter().map(|word| self.holds(word)).collect();
        let passes = |row: &u32| codes[*row as usize].is_some_and(|code| pass[code as usize]);
        match rows {
            Some(rows) => rows.into_iter().filter(passes).collect(),
            None => (0..count(codes.len())).filter(passes).collect(),
        }
    }
}

/// Whether a text contains a lowercase part, ignoring ASCII case.
fn holds(text: &str, part: &str) -> bool {
    part.is_empty()
        || text.contains(part)
        || part.bytes().any(|byte| byte.is_ascii_alphabetic())
            && text.as_bytes().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

/// The end of the last row that passed, out of `count`.
fn end(rows: Option<&[u32]>, count: usize) -> usize {
    rows.map_or(count, |rows| rows.last().map_or(0, |last| *last as usize + 1))
}

/// The rows that pass a test, out of those that passed the previous ones.
fn passing(test: &Test, column: &Column, rows: Option<Vec<u32>>, words: &Words) -> Vec<u32> {
    match test {
        Test::Range(_, least, greatest) => kept(column, rows, |value| (*least..=*greatest).contains(&value)),
        Test::Not(_, number) => kept(column, rows, |value| value != *number),
        Test::OneOf(_, numbers) if numbers.len() > MANY_NUMBERS => {
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            kept(column, rows, |value| sorted.binary_search(&value).is_ok())
        }
        Test::OneOf(_, numbers) => kept(column, rows, |value| numbers.contains(&value)),
        Test::IsNull(_, is_null) => {
            let all = rows.unwrap_or_else(|| (0..count(column.values.len())).collect());
            all.into_iter().filter(|row| column.is_there(*row as usize) != *is_null).collect()
        }
        Test::TextOneOf(_, texts) => {
            let numbers = words.numbers(texts.iter().map(String::as_str));
            kept(column, rows, |value| numbers.contains(&value))
        }
        Test::TextNot(_, text) => {
            let numbers = words.numbers([text.as_str()]);
            kept(column, rows, |value| !numbers.contains(&value))
        }
        Test::TextHolds(_, part) => {
            let (all, mut room) = (words.all(), Letters::default());
            kept(column, rows, |value| holds(letters(value, &all, &mut room), part))
        }
    }
}

/// The rows with a value for which `is_kept` returns `true`.
fn kept(column: &Column, rows: Option<Vec<u32>>, mut is_kept: impl FnMut(i64) -> bool) -> Vec<u32> {
    let values = column.values.as_slice();
    let is_there = |row: u32| column.is_there(row as usize);
    match rows {
        Some(mut rows) => {
            rows.retain(|row| is_kept(values[*row as usize]) && is_there(*row));
            rows
        }
        None => {
            // Branch-free: each row is written, and overwritten by the next one if it is not kept.
            let (mut found, mut length) = (vec![0; values.len()], 0);
            for (row, value) in (0..).zip(values) {
                found[length] = row;
                length += usize::from(is_kept(*value));
            }
            found.truncate(length);
            if column.valid.is_some() {
                found.retain(|row| is_there(*row));
            }
            found
        }
    }
}

/// The slots of all threads' groups.
fn grouped(
    parts: Vec<Part>,
    aggregates: &[Aggregate],
    keys: usize,
    charge: &mut Charge,
) -> Result<Slots, Stop> {
    let mut parts = parts.into_iter();
    let mut all = parts.next().ok_or(Stop::GiveUp)?;
    if keys == 0 {
        // Without rows there is still one group.
        all.groups.find(&[0]).ok_or(Stop::GiveUp)?;
    }
    for part in parts {
        let places = (0..part.groups.len()).map(|group| all.groups.find(part.groups.key(group)));
        let places: Vec<u32> = places.collect::<Option<_>>().ok_or(Stop::GiveUp)?;
        for (state, other) in all.states.iter_mut().zip(part.states) {
            state.merge(other, &places, all.groups.len())?;
        }
        let bytes = all.groups.bytes() + all.states.iter().map(State::bytes).sum::<usize>();
        drop(part.charge);
        all.charge.set(bytes).then_some(()).ok_or(Stop::GiveUp)?;
    }
    let rows = all.groups.len();
    charge.add(rows * (keys + aggregates.len()) * 16).then_some(()).ok_or(Stop::GiveUp)?;
    let mut columns: Vec<SlotColumn> = (0..keys)
        .map(|place| {
            let words = |group| all.groups.key(group);
            let values: Vec<i64> = (0..rows).map(|group| words(group)[place]).collect();
            let valid: Vec<bool> = (0..rows).map(|group| words(group)[keys] >> place & 1 == 1).collect();
            SlotColumn::Numbers(Column::numbers(values, valid.contains(&false).then_some(valid)))
        })
        .collect();
    for (place, aggregate) in aggregates.iter().enumerate() {
        columns.push(match all.states[place].outcome(aggregate, rows) {
            Outcome::Fractions(fractions) => SlotColumn::Fractions(fractions),
            Outcome::Numbers(numbers) => {
                let valid: Vec<bool> = numbers.iter().map(Option::is_some).collect();
                let values: Vec<i64> = numbers.into_iter().map(|number| number.unwrap_or(0)).collect();
                SlotColumn::Numbers(Column::numbers(values, valid.contains(&false).then_some(valid)))
            }
        });
    }
    Ok(Slots { rows, columns })
}

/// The slots of all threads' rows, in stored order.
fn listed(parts: Vec<Part>, keys: usize, charge: &mut Charge) -> Result<Slots, Stop> {
    let mut lists: Vec<(usize, Vec<Column>)> = Vec::new();
    for part in parts {
        charge.take_over(part.charge);
        lists.extend(part.lists);
    }
    lists.sort_by_key(|(part, _)| *part);
    let rows = lists.iter().map(|(_, columns)| columns.first().map_or(0, |column| column.values.len())).sum();
    let column = |place: usize| {
        let mut values = Vec::with_capacity(rows);
        let mut valid = Vec::new();
        for (_, columns) in &lists {
            let column = &columns[place];
            if let Some(some) = &column.valid {
                valid.resize(values.len(), true);
                valid.extend(some.iter());
            }
            values.extend_from_slice(&column.values);
            if !valid.is_empty() {
                valid.resize(values.len(), true);
            }
        }
        SlotColumn::Numbers(Column::numbers(values, (!valid.is_empty()).then_some(valid)))
    };
    charge.add(rows * keys * 8).then_some(()).ok_or(Stop::GiveUp)?;
    Ok(Slots { rows, columns: (0..keys).map(column).collect() })
}

fn may_hold(chunk: &Chunk, tests: &[Test]) -> bool {
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
fn times(tests: &[Test]) -> TimeRange {
    let mut range = TimeRange::ALL;
    for test in tests {
        if let Test::Range(0, least, greatest) = test {
            range.from = range.from.max(Nanos(u64::try_from(*least).unwrap_or(0)));
            range.to = range.to.min(Nanos(u64::try_from(*greatest).unwrap_or(0)));
        }
    }
    range
}

fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

/// The error of a failed question; `None` if SQLite has to answer it.
pub(super) fn error(failure: Failure, limit: std::time::Duration) -> Option<QueryError> {
    match failure {
        Failure::Store(error) => Some(QueryError::Store(error)),
        Failure::Stop(Stop::Late) => Some(QueryError::Time(limit)),
        Failure::Stop(Stop::GiveUp) => None,
    }
}

/// Lists with more numbers are searched by bisection.
const MANY_NUMBERS: usize = 8;
/// Maximum threads that read at once.
const MAX_THREADS: usize = 2;
/// Rows of an inner question's answer that are processed at once.
const ROWS_AT_ONCE: usize = 65_536;
