//! The values of a column in memory.

use std::collections::HashMap;
use std::hash::Hash;

use inband_model::table::Kind;

use super::texts::Texts;
use crate::mixer::Seed;

/// The values of a column in some rows.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnData {
    /// Numbers and times.
    Integers {
        /// The values; 0 where missing.
        values: Vec<i64>,
        /// Which values are present; `None` if all are.
        valid: Option<Vec<bool>>,
    },
    /// True or false.
    Flags(Vec<bool>),
    /// Texts, each distinct one stored once.
    Texts {
        /// Which text; `None` if missing.
        codes: Vec<Option<u32>>,
        /// The distinct texts.
        words: Texts,
    },
}

/// A test of the values of a column.
#[derive(Clone, Copy)]
pub(crate) enum ValueTest<'a> {
    Number(&'a dyn Fn(i64) -> bool),
    /// From one number to another, both included.
    Range(i64, i64),
    Text(&'a dyn Fn(&str) -> bool),
}

impl ValueTest<'_> {
    /// Whether a number passes; `false` for a test of texts.
    pub(crate) fn passes(&self, number: i64) -> bool {
        match self {
            Self::Number(test) => test(number),
            Self::Range(least, greatest) => (*least..=*greatest).contains(&number),
            Self::Text(_) => false,
        }
    }
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value<'a> {
    /// No value.
    Missing,
    /// A number or a time; 0 or 1 for a flag.
    Integer(i64),
    /// A text.
    Text(&'a str),
}

impl ColumnData {
    pub(crate) fn of_integers(values: impl Iterator<Item = i64>) -> ColumnData {
        ColumnData::Integers { values: values.collect(), valid: None }
    }

    pub(crate) fn of_optional_integers(values: impl Iterator<Item = Option<i64>>) -> ColumnData {
        let (values, valid) = values.map(|value| (value.unwrap_or(0), value.is_some())).unzip();
        ColumnData::Integers { values, valid: Some(valid) }
    }

    /// Builds a column from the present values, and which rows have one.
    pub(crate) fn from_present(values: Vec<i64>, valid: Option<Vec<bool>>) -> ColumnData {
        match valid {
            Some(valid) if values.len() != valid.len() => {
                let mut present = values.into_iter();
                let values =
                    valid.iter().map(|valid| if *valid { present.next().unwrap_or(0) } else { 0 }).collect();
                ColumnData::Integers { values, valid: Some(valid) }
            }
            valid => ColumnData::Integers { values, valid: valid.filter(|valid| valid.contains(&false)) },
        }
    }

    /// Builds a column of texts; `write` is called for each distinct one.
    pub(crate) fn of_texts<T: PartialEq + Eq + Hash + Clone>(
        texts: impl Iterator<Item = Option<T>>,
        write: impl Fn(T) -> String,
    ) -> ColumnData {
        let (mut codes, mut words) = (Vec::with_capacity(texts.size_hint().0), Texts::default());
        let mut known: HashMap<T, u32, Seed> = HashMap::default();
        // Adjacent rows are mostly of the same flow.
        let mut last: Option<(T, u32)> = None;
        for text in texts {
            let Some(text) = text else {
                codes.push(None);
                continue;
            };
            let code = match &last {
                Some((same, code)) if *same == text => *code,
                _ => *known.entry(text.clone()).or_insert_with(|| {
                    words.push(&write(text.clone()));
                    u32::try_from(words.len() - 1).unwrap_or(u32::MAX)
                }),
            };
            last = Some((text, code));
            codes.push(Some(code));
        }
        ColumnData::Texts { codes, words }
    }

    /// A column without values.
    pub(crate) fn missing(kind: Kind, rows: usize) -> ColumnData {
        match kind {
            Kind::Time | Kind::Integer | Kind::Flag => {
                ColumnData::Integers { values: vec![0; rows], valid: Some(vec![false; rows]) }
            }
            Kind::Text => ColumnData::Texts { codes: vec![None; rows], words: Texts::default() },
        }
    }

    /// The value of a row.
    #[must_use]
    pub fn value(&self, row: usize) -> Value<'_> {
        match self {
            ColumnData::Integers { values, valid } => match valid {
                Some(valid) if !valid[row] => Value::Missing,
                _ => Value::Integer(values[row]),
            },
            ColumnData::Flags(values) => Value::Integer(values[row].into()),
            ColumnData::Texts { codes, words } => {
                codes[row].map_or(Value::Missing, |code| Value::Text(words.get(code as usize)))
            }
        }
    }

    /// The values of some rows.
    pub(crate) fn pick(&self, rows: impl Iterator<Item = usize> + Clone) -> ColumnData {
        match self {
            ColumnData::Integers { values, valid } => ColumnData::Integers {
                values: rows.clone().map(|row| values[row]).collect(),
                valid: valid.as_ref().map(|valid| rows.map(|row| valid[row]).collect()),
            },
            ColumnData::Flags(values) => ColumnData::Flags(rows.map(|row| values[row]).collect()),
            ColumnData::Texts { codes, words } => {
                ColumnData::Texts { codes: rows.map(|row| codes[row]).collect(), words: words.clone() }
            }
        }
    }

    /// The values of these rows, in ascending order, one after another.
    pub(crate) fn of_rows(self, rows: &[u32]) -> ColumnData {
        match self {
            ColumnData::Integers { values, valid } => ColumnData::Integers {
                values: picked(&values, rows),
                valid: valid.map(|valid| picked(&valid, rows)),
            },
            ColumnData::Flags(flags) => ColumnData::Flags(picked(&flags, rows)),
            ColumnData::Texts { codes, words } => ColumnData::Texts { codes: picked(&codes, rows), words },
        }
    }

    /// Appends some rows of a column of the same kind.
    pub(crate) fn append(&mut self, other: &ColumnData, rows: impl Iterator<Item = usize> + Clone) {
        let before = self.len();
        match (self, other) {
            (
                ColumnData::Integers { values, valid },
                ColumnData::Integers { values: more, valid: more_valid },
            ) => {
                if valid.is_some() || more_valid.is_some() {
                    let valid = valid.get_or_insert_with(|| vec![true; before]);
                    valid.extend(rows.clone().map(|row| more_valid.as_ref().is_none_or(|valid| valid[row])));
                }
                values.extend(rows.map(|row| more[row]));
            }
            (ColumnData::Flags(values), ColumnData::Flags(more)) => values.extend(rows.map(|row| more[row])),
            (ColumnData::Texts { codes, words }, ColumnData::Texts { codes: more, words: more_words }) => {
                let first = u32::try_from(words.len()).unwrap_or(u32::MAX);
                words.extend(more_words.iter());
                codes.extend(rows.map(|row| more[row].map(|code| code.saturating_add(first))));
            }
            // A flag that an older program did not write reads as a number; then all become numbers.
            (whole, other) => {
                let mixed: Vec<Option<i64>> = (0..before).map(|row| whole.integer(row)).collect();
                let more = rows.map(|row| other.integer(row));
                *whole = ColumnData::of_optional_integers(mixed.into_iter().chain(more));
            }
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            ColumnData::Integers { values, .. } => values.len(),
            ColumnData::Flags(values) => values.len(),
            ColumnData::Texts { codes, .. } => codes.len(),
        }
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number in a row; `None` if missing.
    #[must_use]
    pub fn integer(&self, row: usize) -> Option<i64> {
        match self.value(row) {
            Value::Integer(number) => Some(number),
            Value::Missing | Value::Text(_) => None,
        }
    }

    /// Bytes of memory, approximately.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            ColumnData::Integers { values, valid } => values.len() * 8 + valid.as_ref().map_or(0, Vec::len),
            ColumnData::Flags(values) => values.len(),
            ColumnData::Texts { codes, words } => codes.len() * 8 + words.bytes(),
        }
    }
}

/// The values of these rows, in ascending order.
fn picked<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    let are_adjacent = |pair: &&[u32]| pair[0] + 1 == pair[1];
    // Rows of one flow are mostly adjacent; such are copied as one.
    if rows.windows(2).take(SAMPLE_ROWS).filter(are_adjacent).count() < SAMPLE_ROWS * 9 / 10 {
        return rows.iter().map(|row| values[*row as usize]).collect();
    }
    let mut found = Vec::with_capacity(rows.len());
    for run in rows.chunk_by(|row, next| row + 1 == *next) {
        found.extend_from_slice(&values[run[0] as usize..][..run.len()]);
    }
    found
}

/// Rows that tell whether those of a chunk are adjacent.
const SAMPLE_ROWS: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::{SAMPLE_ROWS, picked};

    #[test]
    fn adjacent_and_single_rows_have_their_values() {
        let values: Vec<usize> = (0..4 * SAMPLE_ROWS).map(|row| row * 7).collect();
        let every = |step: usize| (0..values.len()).step_by(step);
        let adjacent =
            (0..2 * SAMPLE_ROWS).chain(2 * SAMPLE_ROWS + 1..3 * SAMPLE_ROWS).chain([values.len() - 1]);
        for rows in [adjacent.collect(), every(1).collect(), every(3).collect::<Vec<_>>(), vec![], vec![5]] {
            let numbers: Vec<u32> = rows.iter().map(|row| u32::try_from(*row).unwrap()).collect();
            let expected: Vec<usize> = rows.iter().map(|row| row * 7).collect();
            assert_eq!(picked(&values, &numbers), expected);
        }
    }
}
