//! The values of a column in some rows: numbers, or the numbers of texts.

use std::sync::Arc;

use super::words::{Met, Words};
use crate::history::ColumnData;

/// Values of some rows.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// 0 where missing.
    pub(super) values: Arc<Vec<i64>>,
    /// Which values are present; `None` if all are.
    pub(super) valid: Option<Arc<Vec<bool>>>,
}

impl Column {
    pub(super) fn numbers(values: impl Into<Arc<Vec<i64>>>, valid: Option<Vec<bool>>) -> Self {
        Self { values: values.into(), valid: valid.map(Arc::new) }
    }

    /// The values of some rows, and the bytes that new texts took; only texts that a row has are numbered.
    pub(super) fn of(data: ColumnData, words: &Words, met: &mut Met) -> (Self, usize) {
        match data {
            ColumnData::Integers { values, valid } => {
                (Self::numbers(values, valid.filter(|valid| valid.contains(&false))), 0)
            }
            ColumnData::Flags(flags) => {
                (Self::numbers(flags.into_iter().map(i64::from).collect::<Vec<_>>(), None), 0)
            }
            ColumnData::Texts { codes, words: texts } => {
                let valid = codes.contains(&None).then(|| codes.iter().map(Option::is_some).collect());
                let (values, bytes): (Vec<i64>, usize) = match codes.len() < texts.len() {
                    false => {
                        let (numbers, bytes) = met.numbers(texts.iter(), words);
                        let number = |code: &Option<u32>| code.map_or(0, |code| numbers[code as usize]);
                        (codes.iter().map(number).collect(), bytes)
                    }
                    true => {
                        let wanted = codes.iter().flatten().map(|code| texts.get(*code as usize));
                        let (numbers, bytes) = met.numbers(wanted, words);
                        let mut numbers = numbers.into_iter();
                        let number = |code: &Option<u32>| code.and_then(|_| numbers.next()).unwrap_or(0);
                        (codes.iter().map(number).collect(), bytes)
                    }
                };
                (Self::numbers(values, valid), bytes)
            }
        }
    }

    pub(super) fn is_there(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid[row])
    }

    /// The values of some of the rows.
    pub(super) fn pick(&self, rows: &[u32]) -> Self {
        let values: Vec<i64> = rows.iter().map(|row| self.values[*row as usize]).collect();
        let valid = self.valid.as_ref();
        let valid = valid.map(|valid| rows.iter().map(|row| valid[*row as usize]).collect::<Vec<_>>());
        Self::numbers(values, valid.filter(|valid| valid.contains(&false)))
    }

    /// The values of a range of rows.
    pub(super) fn part(&self, rows: std::ops::Range<usize>) -> Self {
        let valid = self.valid.as_ref().map(|valid| valid[rows.clone()].to_vec());
        Self::numbers(self.values[rows].to_vec(), valid.filter(|valid| valid.contains(&false)))
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.values.len() * size_of::<i64>() + self.valid.as_ref().map_or(0, |valid| valid.len())
    }
}
