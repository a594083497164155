//! A question's limits, answer and errors.

use std::collections::HashSet;
use std::io::{self, Write};
use std::iter;
use std::time::Duration;

use serde::Serialize;
use thiserror::Error;

use crate::damage::Findings;
use crate::error::StoreError;

/// What a question may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum time.
    pub time: Duration,
    /// The maximum memory, bytes. SQLite's own memory, for sorts for example, is counted separately, over all
    /// questions of the process; the largest limit applies.
    pub memory_bytes: usize,
    /// The maximum number of rows in the answer.
    pub rows: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { time: Duration::from_secs(60), memory_bytes: 1 << 30, rows: 1_000_000 }
    }
}

/// The answer to a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// What was damaged and left out, and what could not be verified.
    pub findings: Findings,
}

impl Answer {
    /// The names of the columns, each once: a further column of one name has a number behind it, such as
    /// `node_id_1`.
    #[must_use]
    pub fn distinct_columns(&self) -> Vec<String> {
        let given: HashSet<&str> = self.columns.iter().map(String::as_str).collect();
        let mut taken: HashSet<String> = HashSet::new();
        let distinct = |name: &String| {
            let numbered = (1_u32..).map(|number| format!("{name}_{number}"));
            let numbered = numbered.filter(|name| !given.contains(name.as_str()));
            let free = iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
            let free = free.unwrap_or_default();
            taken.insert(free.clone());
            free
        };
        self.columns.iter().map(distinct).collect()
    }

    /// Writes one JSON object for each row, each on its own line, with its keys in the order of the columns.
    ///
    /// # Errors
    /// `out` cannot be written to.
    pub fn write_json_lines(&self, out: &mut impl Write) -> io::Result<()> {
        let names = self.distinct_columns();
        for row in &self.rows {
            for (at, (name, cell)) in names.iter().zip(row).enumerate() {
                out.write_all(if at == 0 { b"{" } else { b"," })?;
                serde_json::to_writer(&mut *out, name)?;
                out.write_all(b":")?;
                serde_json::to_writer(&mut *out, cell)?;
            }
            out.write_all(b"}\n")?;
        }
        Ok(())
    }
}

/// A value of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// No value.
    Null,
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A text.
    Text(String),
}

/// Why there is no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The question is invalid.
    #[error("{0}")]
    Question(String),
    /// It took too long.
    #[error("the question took longer than {0:?}")]
    Time(Duration),
    /// It took too much memory.
    #[error("the question took more than {0} bytes of memory")]
    Memory(usize),
    /// The answer is too long.
    #[error("the answer has more than {0} rows; add LIMIT")]
    Rows(usize),
    /// History cannot be read.
    #[error("cannot read history")]
    Store(#[source] StoreError),
    /// SQLite failed.
    #[error("cannot answer the question")]
    Engine(#[source] rusqlite::Error),
}
