//! The rows of a chunk that pass a test.

use super::column::Column;
use super::plan::Test;
use super::words::{Letters, Words, letters};
use crate::history::ColumnData;

/// Whether a number passes a test; `None` for tests of texts and of missing values.
pub(super) fn number_test(test: &Test) -> Option<impl Fn(i64) -> bool> {
    let is_of_numbers = matches!(test, Test::Range(..) | Test::Not(..) | Test::OneOf(..));
    is_of_numbers.then_some(move |value: i64| match test {
        Test::Range(_, least, greatest) => (*least..=*greatest).contains(&value),
        Test::Not(_, number) => value != *number,
        Test::OneOf(_, numbers) => numbers.contains(&value),
        _ => false,
    })
}

/// A test of texts, evaluated on the dictionary in place.
pub(super) enum TextTest<'a> {
    OneOf(&'a [String]),
    Not(&'a str),
    Holds(&'a str),
}

impl<'a> TextTest<'a> {
    pub(super) fn of(test: &'a Test) -> Option<Self> {
        match test {
            Test::TextOneOf(_, texts) => Some(Self::OneOf(texts)),
            Test::TextNot(_, text) => Some(Self::Not(text)),
            Test::TextHolds(_, part) => Some(Self::Holds(part)),
            _ => None,
        }
    }

    pub(super) fn holds(&self, text: &str) -> bool {
        match self {
            Self::OneOf(texts) => texts.iter().any(|one| one == text),
            Self::Not(one) => *one != text,
            Self::Holds(part) => holds(text, part),
        }
    }

    /// The rows that pass, out of those that passed the previous tests.
    pub(super) fn passing(&self, data: &ColumnData, rows: Option<Vec<u32>>) -> Vec<u32> {
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
pub(super) fn end(rows: Option<&[u32]>, count: usize) -> usize {
    rows.map_or(count, |rows| rows.last().map_or(0, |last| *last as usize + 1))
}

/// The rows that pass a test, out of those that passed the previous ones, of which the column has the values;
/// of all if none are given.
pub(super) fn passing(test: &Test, column: &Column, rows: Option<Vec<u32>>, words: &Words) -> Vec<u32> {
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
            let passing =
                all.into_iter().enumerate().filter(|(place, _)| column.is_there(*place) != *is_null);
            passing.map(|(_, row)| row).collect()
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
            let mut places = 0..;
            rows.retain(|_| {
                let place: usize = places.next().unwrap_or(0);
                is_kept(values[place]) && column.is_there(place)
            });
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

fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

/// Lists with more numbers are searched by bisection.
const MANY_NUMBERS: usize = 8;
