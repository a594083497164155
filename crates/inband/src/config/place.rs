//! The place of a byte range in a configuration file: line, column, table, and the line itself.

use std::fmt;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// A place in a configuration file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Counted from 1.
    pub(crate) line: usize,
    /// Counted from 1, in characters.
    pub(crate) column: usize,
    /// The header of the enclosing table as written, `[source]` or `[[interface]]`. `None` outside of any.
    pub(crate) table: Option<String>,
    text: String,
    /// Characters the error spans on its line, at least one.
    width: usize,
}

impl Place {
    /// Finds the place of a byte range of `file`.
    pub(crate) fn of(file: &str, span: &Range<usize>) -> Self {
        let start = floor_char_boundary(file, span.start);
        let line_start = file[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = file[start..].find('\n').map_or(file.len(), |newline| start + newline);
        let end = floor_char_boundary(file, span.end).clamp(start, line_end);
        let table = DeTable::parse(file).ok().and_then(|root| table_around(root.get_ref(), start));
        Self {
            line: file[..start].matches('\n').count() + 1,
            column: file[line_start..start].chars().count() + 1,
            table,
            text: file[line_start..line_end].trim_end().replace(char::is_control, " "),
            width: file[start..end].trim_end().chars().count().max(1),
        }
    }

    /// Writes the line with the error underlined.
    pub(crate) fn fmt_quote(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.chars().count() > MAX_QUOTE {
            let start: String = self.text.chars().take(MAX_QUOTE).collect();
            return write!(f, "{:4} | {start}…", self.line);
        }
        let indent = " ".repeat(self.column - 1);
        write!(f, "{:4} | {}\n     | {indent}{}", self.line, self.text, "^".repeat(self.width))
    }
}

/// The byte range of a key's value, or of the nearest enclosing table in the file. A part of the key behind a
/// list is a position in it, as in `interface.1.device`.
pub(crate) fn find_key(file: &str, key: &str) -> Option<Range<usize>> {
    let root = DeTable::parse(file).ok()?;
    let mut parts = key.split('.');
    let mut found = root.get_ref().get(parts.next()?)?;
    for part in parts {
        let inner = match found.get_ref() {
            DeValue::Table(table) => table.get(part),
            DeValue::Array(items) => part.parse().ok().and_then(|at: usize| items.get(at)),
            _ => None,
        };
        let Some(inner) = inner else { break };
        found = inner;
    }
    Some(found.span())
}

/// The header of the innermost table with a key or value at byte `at`.
fn table_around(table: &DeTable<'_>, at: usize) -> Option<String> {
    let mut path = Vec::new();
    let mut array = false;
    descend(table, at, &mut path, &mut array);
    let path = path.join(".");
    (!path.is_empty()).then(|| if array { format!("[[{path}]]") } else { format!("[{path}]") })
}

/// Collects in `path` the keys of the tables around `at`; true when `at` is inside `table`.
fn descend<'a>(table: &'a DeTable<'_>, at: usize, path: &mut Vec<&'a str>, array: &mut bool) -> bool {
    for (key, value) in table {
        if key.span().contains(&at) {
            return true;
        }
        let depth = path.len();
        let was_array = *array;
        path.push(key.get_ref());
        let inside = match value.get_ref() {
            DeValue::Table(inner) => {
                *array = false;
                value.span().contains(&at) || descend(inner, at, path, array)
            }
            DeValue::Array(items) => items.iter().any(|item| {
                let inner = item.get_ref().as_table();
                *array = true;
                inner.is_some_and(|inner| item.span().contains(&at) || descend(inner, at, path, array))
            }),
            _ => false,
        };
        if inside {
            return true;
        }
        path.truncate(depth);
        *array = was_array;
        if value.span().contains(&at) {
            return true;
        }
    }
    false
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Longer lines are cut to this many characters and not underlined.
const MAX_QUOTE: usize = 120;

#[cfg(test)]
mod tests;
