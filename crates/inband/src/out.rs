//! Results on stdout.

use std::io::Write;

use anyhow::Context;

use crate::failure::Failure;
use crate::stdout::Stdout;

/// Prints a result at once.
///
/// # Errors
/// It cannot be written. Where the reader has closed the output, as `head` does, the error ends the program
/// with success.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = Stdout::new();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to stdout")?;
    Ok(())
}
