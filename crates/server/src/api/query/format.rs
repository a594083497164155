//! The answer to an SQL query, written in the format that is asked for.

use std::io;

use inband_model::api::{Rows, SqlFormat, SqlIntegers};
use inband_store::{Answer, Cell, QueryError};

/// A written answer.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) bytes: Vec<u8>,
    pub(super) media: &'static str,
    /// Number of damaged parts of history left out, for formats without room for it.
    pub(super) damage: Option<usize>,
}

impl Written {
    /// Writes an answer to at most `most` bytes.
    ///
    /// # Errors
    /// It takes more, or cannot be written in this format.
    pub(super) fn new(
        mut found: Answer,
        format: SqlFormat,
        integers: SqlIntegers,
        most: usize,
    ) -> Result<Self, QueryError> {
        let damage = Some(found.findings.damage.len());
        if format == SqlFormat::Parquet {
            let bytes = found.to_parquet()?;
            return match bytes.len() <= most {
                true => Ok(Self { bytes, media: PARQUET, damage }),
                false => Err(QueryError::Memory(most)),
            };
        }
        // Text formats for people and tables contain all digits anyway.
        if integers == SqlIntegers::Text {
            found.rows.iter_mut().flatten().for_each(write_as_text);
        }
        let mut text = Text { bytes: Vec::new(), most };
        let (media, damage, written) = match format {
            SqlFormat::Json => (JSON, None, json(&mut text, found)),
            SqlFormat::Columns => (JSON, None, columns(&mut text, found)),
            SqlFormat::Csv => (CSV, damage, csv(&mut text, found)),
            SqlFormat::Jsonl | SqlFormat::Parquet => (JSONL, damage, found.write_json_lines(&mut text)),
        };
        // Nothing else fails where text is written to memory.
        written.map_err(|_| QueryError::Memory(most))?;
        Ok(Self { bytes: text.bytes, media, damage })
    }
}

/// A text of at most `most` bytes.
struct Text {
    bytes: Vec<u8>,
    most: usize,
}

impl io::Write for Text {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(part.len()) > self.most {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn json(text: &mut Text, mut found: Answer) -> io::Result<()> {
    let rows = std::mem::take(&mut found.rows);
    Ok(serde_json::to_writer(text, &Rows { rows: Some(rows), ..without_rows(found) })?)
}

fn columns(text: &mut Text, mut found: Answer) -> io::Result<()> {
    let rows = std::mem::take(&mut found.rows);
    let mut values: Vec<Vec<Cell>> = found.columns.iter().map(|_| Vec::with_capacity(rows.len())).collect();
    for row in rows {
        values.iter_mut().zip(row).for_each(|(values, value)| values.push(value));
    }
    Ok(serde_json::to_writer(text, &Rows { values: Some(values), ..without_rows(found) })?)
}

fn without_rows(found: Answer) -> Rows<Cell> {
    Rows {
        columns: found.columns,
        rows: None,
        values: None,
        damage: found.findings.damage.into_iter().collect(),
        unverified_segments: found.findings.unverified.len(),
    }
}

fn csv(text: &mut Text, found: Answer) -> io::Result<()> {
    use io::Write;

    let names: Vec<String> = found.columns.iter().map(|name| quoted(name)).collect();
    write!(text, "{}\r\n", names.join(","))?;
    for row in found.rows {
        for (at, cell) in row.iter().enumerate() {
            text.write_all(if at == 0 { b"" } else { b"," })?;
            match cell {
                Cell::Text(cell) => text.write_all(quoted(cell).as_bytes())?,
                Cell::Integer(_) => serde_json::to_writer(&mut *text, cell)?,
                Cell::Real(number) if number.is_finite() => serde_json::to_writer(&mut *text, cell)?,
                Cell::Null | Cell::Real(_) => {}
            }
        }
        text.write_all(b"\r\n")?;
    }
    Ok(())
}

/// A text as a CSV cell. Spreadsheets execute a cell that begins with one of these signs as a formula; a
/// leading apostrophe makes it text.
fn quoted(text: &str) -> String {
    let apostrophe = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    format!("\"{apostrophe}{}\"", text.replace('"', "\"\""))
}

/// Turns an integer that a double does not hold exactly into text.
fn write_as_text(cell: &mut Cell) {
    if let Cell::Integer(number) = *cell
        && number.unsigned_abs() > MAX_EXACT
    {
        *cell = Cell::Text(number.to_string());
    }
}

const JSON: &str = "application/json";
const CSV: &str = "text/csv; charset=utf-8; header=present";
const JSONL: &str = "application/jsonl";
const PARQUET: &str = "application/vnd.apache.parquet";
/// The largest integer up to which doubles are exact: 2^53 - 1.
const MAX_EXACT: u64 = (1 << 53) - 1;
