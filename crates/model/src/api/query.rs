//! Questions in SQL, and their answers.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A question in SQL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Question")]
pub struct SqlQuestion {
    /// The question; the tables are those of `inband query --tables`.
    pub sql: String,
    /// How integers are written that a program may read as doubles.
    #[serde(default)]
    pub integers: SqlIntegers,
    /// How the answer is written.
    #[serde(default)]
    pub format: SqlFormat,
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SqlFormat {
    /// A list of rows, each a list of values.
    #[default]
    Json,
    /// A list of values for each column.
    Columns,
    /// Comma-separated values with a line of names in front.
    Csv,
    /// An object a line.
    Jsonl,
    /// A file of Parquet.
    Parquet,
}

/// How integers that a program may read as doubles are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SqlIntegers {
    /// As numbers, with all their digits.
    #[default]
    Number,
    /// As texts, where a double does not hold them: those past 2^53.
    Text,
}

/// The answer to a question in SQL; a value is a number, a text or null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Rows")]
pub struct Rows<Value> {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// A value for each column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<Vec<Value>>>,
    /// Of `format` columns: a list for each column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Vec<Value>>>,
    /// What is damaged and left out of the answer; mostly empty.
    pub damage: Vec<Damage>,
    /// Files of earlier versions, which have no checksums.
    pub unverified_segments: usize,
}

/// A part of a file of history that cannot be trusted. Its rows are left out of answers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// The part of it, such as `row group 2, column hop_latency`, `footer` or `bytes 1200 to 3400`.
    pub place: String,
    /// What is wrong with it.
    pub cause: String,
    /// Rows that are left out; null where the damage hides how many they are.
    pub rows: Option<u64>,
}

impl Damage {
    /// Notes a part of a file that cannot be trusted, and how many rows it holds.
    #[must_use]
    pub fn new(file: &Path, place: impl Into<String>, cause: impl fmt::Display, rows: Option<usize>) -> Self {
        let rows = rows.map(|rows| rows as u64);
        Self { file: file.to_owned(), place: place.into(), cause: cause.to_string(), rows }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}", self.file.display(), self.place, self.cause)?;
        match self.rows {
            Some(rows) => write!(f, "; {rows} rows left out"),
            None => write!(f, "; an unknown number of rows left out"),
        }
    }
}
