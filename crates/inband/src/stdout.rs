//! Stdout, and its readers that have enough.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// Stdout, whose errors tell a reader that has enough from a failure.
#[derive(Debug)]
pub(crate) struct Stdout(io::Stdout);

/// The reader of stdout has closed it.
#[derive(Debug)]
struct Closed;

impl Stdout {
    pub(crate) fn new() -> Self {
        Self(io::stdout())
    }

    /// Whether a person reads it.
    pub(crate) fn is_terminal(&self) -> bool {
        self.0.is_terminal()
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(marked)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).map_err(marked)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(marked)
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads stdout any more")
    }
}

impl Error for Closed {}

fn marked(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::BrokenPipe { io::Error::new(ErrorKind::BrokenPipe, Closed) } else { error }
}

/// Whether a write failed because the reader of stdout has closed it, as `head` does.
pub(crate) fn is_closed(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Closed>())
}
