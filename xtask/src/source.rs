//! Source files, with code and tests distinguished.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

mod blank;

#[cfg(test)]
mod tests;

pub(crate) use blank::blank;

/// A Rust or C file of the workspace, with its tests marked.
pub(crate) struct Source {
    /// Relative to the workspace root, with `/` between its parts.
    pub path: String,
    /// The file as stored.
    pub text: String,
    /// The file with comments and literals replaced by spaces; offsets are those of `text`.
    pub code: String,
    tests: Vec<Range<usize>>,
}

impl Source {
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let code = blank(&text);
        let whole = 0..text.len();
        let tests = if is_test_path(&path) { vec![whole] } else { test_items(&code) };
        Self { path, text, code, tests }
    }

    /// True when the byte at `offset` is compiled for tests only.
    pub(crate) fn is_test(&self, offset: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&offset))
    }

    /// `path:line` of the byte at `offset`.
    pub(crate) fn place(&self, offset: usize) -> String {
        let line = 1 + self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
        format!("{}:{line}", self.path)
    }
}

/// Reads every file below `folder` whose extension is one of `extensions`, in the order of their paths.
///
/// # Errors
/// A folder or a file cannot be read, or is not UTF-8.
pub(crate) fn read_all(root: &Path, folder: &str, extensions: &[&str]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for file in files(&root.join(folder), extensions)? {
        let text =
            std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let path = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        sources.push(Source::new(path, text));
    }
    Ok(sources)
}

/// The files below `folder` with one of these extensions, sorted; build output is skipped.
pub(crate) fn files(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        let entries =
            std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() && entry.file_name() != "target" {
                open.push(path);
            } else if kind.is_file() && has_extension(&path, extensions) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
}

/// True for files that contain only tests, and for the test kit.
fn is_test_path(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "testkit"))
}

/// The items after `#[cfg(test)]`, each up to its semicolon or closing brace.
fn test_items(code: &str) -> Vec<Range<usize>> {
    const MARK: &str = "#[cfg(test)]";
    code.match_indices(MARK).map(|(start, _)| start..item_end(code, start + MARK.len())).collect()
}

/// The offset after the item that starts at `start`.
fn item_end(code: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(start) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'}' if depth <= 1 => return offset + 1,
            b'}' => depth -= 1,
            b';' if depth == 0 => return offset + 1,
            _ => {}
        }
    }
    code.len()
}
