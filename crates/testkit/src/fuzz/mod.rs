//! The bodies of the fuzz targets.
//!
//! Every target is a function of bytes that panics on a violation; the targets in `fuzz/` call it, and
//! [`replay`] calls it with every file of a corpus.

mod any_report;
mod collector;
mod explain;
mod node;
mod wire;

use std::fs;
use std::io;
use std::path::Path;

pub use any_report::any_report;
pub use collector::collector;
pub use explain::explain_bytes;
pub use node::node;
pub use wire::{dissect, layers, md_stack, report};

/// Calls `target` with every file of `corpus`, in order of name; returns the number of files.
///
/// # Errors
/// The directory or a file cannot be read.
pub fn replay(corpus: &Path, target: impl Fn(&[u8])) -> io::Result<usize> {
    let mut files: Vec<_> =
        fs::read_dir(corpus)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    files.sort();
    for file in &files {
        target(&fs::read(file)?);
    }
    Ok(files.len())
}

#[cfg(test)]
mod tests;
