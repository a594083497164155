//! Packets that the kernel has dropped because a processor's backlog was full, of all namespaces together.

use std::{fs, io};

/// One line per processor; the second number of a line counts what did not fit into that processor's backlog.
pub const STATISTICS: &str = "/proc/net/softnet_stat";

/// The drops of all processors since the machine started.
///
/// # Errors
/// The kernel does not count them, or the file cannot be read.
pub fn dropped() -> io::Result<u64> {
    sum(&fs::read_to_string(STATISTICS)?).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The sum over all processors in the text of [`STATISTICS`]; `None` where it has another form.
#[must_use]
pub fn sum(text: &str) -> Option<u64> {
    let of_processor = |line: &str| u64::from_str_radix(line.split_ascii_whitespace().nth(1)?, 16).ok();
    text.lines().map(of_processor).sum()
}

#[cfg(test)]
mod tests;
