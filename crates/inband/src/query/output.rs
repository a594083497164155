//! Answers as an aligned table or CSV.

use std::io::{self, Write};

use inband_store::{Answer, Cell};

/// Writes the rows in aligned columns, numbers to the right.
pub(super) fn write_table(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let texts: Vec<Vec<String>> = answer.rows.iter().map(|row| row.iter().map(shown).collect()).collect();
    let width = |column: usize| {
        let longest = texts.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        longest.max(answer.columns[column].chars().count())
    };
    let widths: Vec<usize> = (0..answer.columns.len()).map(width).collect();
    let is_number = |column: usize| {
        let mut cells = answer.rows.iter().map(|row| &row[column]);
        cells.clone().any(|cell| *cell != Cell::Null) && cells.all(|cell| !matches!(cell, Cell::Text(_)))
    };
    let to_right: Vec<bool> = (0..answer.columns.len()).map(is_number).collect();
    for row in std::iter::once(&answer.columns).chain(&texts) {
        let mut line = String::new();
        for ((text, width), to_right) in row.iter().zip(&widths).zip(&to_right) {
            let text = if *to_right { format!("{text:>width$}  ") } else { format!("{text:<width$}  ") };
            line.push_str(&text);
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Writes the column names and the rows; a missing value is empty.
pub(super) fn write_csv(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let names: Vec<String> = answer.columns.iter().map(|name| quoted(name)).collect();
    writeln!(out, "{}", names.join(","))?;
    for row in &answer.rows {
        let cells: Vec<String> = row.iter().map(csv).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

/// A value in one line; control characters are escaped, because names and keys come from networks.
fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Null => "-".to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) => text.chars().flat_map(escaped).collect(),
    }
}

fn escaped(letter: char) -> impl Iterator<Item = char> {
    let escape = letter.is_control().then(|| letter.escape_default());
    let plain = escape.is_none().then_some(letter);
    escape.into_iter().flatten().chain(plain)
}

fn csv(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests;
