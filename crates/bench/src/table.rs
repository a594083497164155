//! The table of times.

use std::fmt::Write;

/// Lines of cells; the first cell of a line is aligned left, the others right.
pub(crate) struct Table {
    lines: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[&str]) -> Self {
        Self { lines: vec![head.iter().map(ToString::to_string).collect()] }
    }

    pub(crate) fn line(&mut self, cells: Vec<String>) {
        self.lines.push(cells);
    }

    /// The table with its columns aligned.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            for (column, cell) in line.iter().enumerate() {
                let width = self.width(column);
                let written = if column == 0 {
                    write!(text, "{cell:width$}")
                } else {
                    write!(text, "  {cell:>width$}")
                };
                written.expect("a String takes all that is written");
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }

    fn width(&self, column: usize) -> usize {
        self.lines
            .iter()
            .filter_map(|line| line.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    }
}
