//! SQL queries and their answers.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An SQL query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Question")]
pub struct SqlQuestion {
    /// The query; `inband query --tables` lists the tables.
    pub sql: String,
    /// Encoding of integers that a reader may parse as doubles.
    #[serde(default)]
    pub integers: SqlIntegers,
    /// Format of the answer.
    #[serde(default)]
    pub format: SqlFormat,
}

/// Format of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SqlFormat {
    /// A list of rows, each a list of values.
    #[default]
    Json,
    /// A list of values per column.
    Columns,
    /// Comma-separated values with a header line.
    Csv,
    /// One JSON object per line.
    Jsonl,
    /// A Parquet file.
    Parquet,
}

/// Encoding of integers that a reader may parse as doubles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SqlIntegers {
    /// As numbers, with all their digits.
    #[default]
    Number,
    /// Text for integers beyond 2^53, which doubles do not hold exactly.
    Text,
}

/// The answer to an SQL query; a value is a number, text or null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Rows")]
pub struct Rows<Value> {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, a value per column each; missing with `format=columns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<Vec<Value>>>,
    /// With `format=columns`: the values of each column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Vec<Value>>>,
    /// Damaged parts of history left out of the answer; usually empty.
    pub damage: Vec<Damage>,
    /// Number of files without checksums, written by earlier versions.
    pub unverified_segments: usize,
}

/// A damaged part of a history file; its rows are left out of answers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// The damaged part, such as `row group 2, column hop_latency`, `footer` or `bytes 1200 to 3400`.
    pub place: String,
    /// The damage, in words.
    pub cause: String,
    /// Number of rows left out; null if unknown.
    pub rows: Option<u64>,
}

impl Damage {
    /// Records a damaged part of a file, and the number of rows it holds.
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
