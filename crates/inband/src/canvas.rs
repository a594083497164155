//! A picture that is redrawn in place on a terminal.

use std::io::{self, Write};

use terminal_size::{Height, Width, terminal_size};

/// A picture on a terminal; the cursor is hidden while one is shown.
pub(crate) struct Canvas<W: Write> {
    out: W,
    drawn: Drawn,
}

/// What is on the terminal.
#[derive(Clone, Copy, Default)]
struct Drawn {
    lines: usize,
    size: (usize, usize),
}

/// The size assumed where the terminal does not report one.
const USUAL_SIZE: (usize, usize) = (80, 24);

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const CLEAR_TO_END_OF_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";
const CLEAR_ALL: &str = "\x1b[H\x1b[2J";
pub(crate) const BOLD: &str = "\x1b[1m";
pub(crate) const PLAIN: &str = "\x1b[0m";

/// Columns and lines of the terminal.
pub(crate) fn size() -> (usize, usize) {
    match terminal_size() {
        Some((Width(width), Height(height))) => (usize::from(width), usize::from(height)),
        None => USUAL_SIZE,
    }
}

impl<W: Write> Canvas<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, drawn: Drawn::default() }
    }

    /// Draws the lines over the previous ones, each cut to the width in `size`.
    pub(crate) fn draw(&mut self, lines: &[String], size: (usize, usize)) -> io::Result<()> {
        let mut picture = self.back_to_the_top(size);
        for line in lines {
            picture.push_str(&cut(line, size.0));
            picture.push_str(CLEAR_TO_END_OF_LINE);
            picture.push('\n');
        }
        picture.push_str(CLEAR_BELOW);
        self.drawn = Drawn { lines: lines.len(), size };
        self.out.write_all(picture.as_bytes())?;
        self.out.flush()
    }

    /// Removes the picture; what is written next takes its place.
    pub(crate) fn clear(&mut self) -> io::Result<&mut W> {
        let lines = self.drawn.lines;
        write!(self.out, "\x1b[{lines}A\r{CLEAR_BELOW}")?;
        Ok(&mut self.out)
    }

    /// Moves to the first line of the picture; after a resize, to where the picture would begin.
    fn back_to_the_top(&self, size: (usize, usize)) -> String {
        match self.drawn {
            Drawn { lines: 0, .. } => HIDE_CURSOR.to_owned(),
            Drawn { lines, size: same } if same == size => format!("\x1b[{lines}A\r"),
            Drawn { .. } => CLEAR_ALL.to_owned(),
        }
    }
}

impl<W: Write> Drop for Canvas<W> {
    fn drop(&mut self) {
        if self.drawn.lines > 0 {
            // Also after an error, which may be the terminal's own.
            let _ = self.out.write_all(SHOW_CURSOR.as_bytes()).and_then(|()| self.out.flush());
        }
    }
}

/// A bold line.
pub(crate) fn bold(text: &str, width: usize) -> String {
    format!("{BOLD}{}{PLAIN}", cut(text, width))
}

/// The part of a line that fits in `width`, so that it stays on one line; bold lines are cut beforehand.
pub(crate) fn cut(line: &str, width: usize) -> String {
    if line.starts_with(BOLD) {
        return line.to_owned();
    }
    line.chars().take(width).collect()
}
