//! Results on stdout.

use std::io::{self, Write};

use anyhow::Context;

use crate::failure::Failure;

/// Prints a result at once.
///
/// # Errors
/// It cannot be written. Where the reader has closed the output, as `head` does, the error ends the program
/// with success.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to stdout")?;
    Ok(())
}
