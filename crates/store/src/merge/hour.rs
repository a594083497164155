//! Merging of the files of one hour.

use std::cmp::Ordering;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use inband_model::table::Shape;

use super::rows::Rows;
use super::rules::{Part, Rules};
use super::source::{Source, compare};
use crate::error::StoreError;
use crate::footers::Footers;
use crate::history::ColumnData;
use crate::layout::{self, SegmentFile};
use crate::segment::{BY_PLACE_ROWS, write_columns};

/// Merges the files of one hour of a table until one is left; returns how many were replaced.
///
/// # Errors
/// A file is damaged or cannot be written, or the store closes.
pub(crate) fn merge_hour(
    shape: &Shape,
    mut files: Vec<SegmentFile>,
    is_closing: &dyn Fn() -> bool,
) -> Result<u64, StoreError> {
    let mut replaced = 0;
    while files.len() > 1 {
        let rest = files.split_off(files.len().min(MAX_AT_ONCE));
        replaced += files.len() as u64;
        let merged = merge(shape, &files, is_closing)?;
        files = std::iter::once(merged).chain(rest).collect();
    }
    Ok(replaced)
}

/// Merges consecutive files into one.
fn merge(
    shape: &Shape,
    files: &[SegmentFile],
    is_closing: &dyn Fn() -> bool,
) -> Result<SegmentFile, StoreError> {
    let rules = Rules::of(shape);
    let (mut sources, open) = (Vec::new(), Arc::default());
    for file in files {
        let segment = Footers::default().open(&file.path, shape, &open)?;
        sources.push(Source::new(segment, file.path.clone(), &rules.keys, rules.kinds.len())?);
    }
    let first = files.iter().map(|file| file.first).min().unwrap_or_default();
    let last = files.iter().map(|file| file.generation).max().unwrap_or_default();
    let path = layout::merged_file(&files[0].path, first, last);
    write_columns(&path, shape, || {
        if is_closing() {
            return Err(StoreError::io("finish", &path)(ErrorKind::Interrupted.into()));
        }
        next_rows(&mut sources, &rules)
    })?;
    for file in files {
        put_aside(&file.path)?;
    }
    Ok(SegmentFile { hour: files[0].hour, first, generation: last, path })
}

/// Renames a replaced file, so that it is ignored.
pub(super) fn put_aside(path: &Path) -> Result<(), StoreError> {
    let renamed = path.with_extension(layout::REPLACED);
    fs::rename(path, &renamed).map_err(StoreError::io("rename", path))
}

/// The next merged rows of all sources, in order; `None` at the end.
fn next_rows(sources: &mut [Source], rules: &Rules) -> Result<Option<Vec<ColumnData>>, StoreError> {
    let mut rows = Rows::new(rules);
    let mut open: Option<Vec<Part>> = None;
    loop {
        let mut least: Option<usize> = None;
        for at in 0..sources.len() {
            let is_less = |least: usize| compare(&sources[at], &sources[least]) == Ordering::Less;
            if !sources[at].is_at_end() && least.is_none_or(is_less) {
                least = Some(at);
            }
        }
        let Some(least) = least else { break };
        let is_same = open.as_ref().is_some_and(|open| rules.is_of(open, &sources[least]));
        match &mut open {
            Some(open) if is_same => rules.absorb(open, &sources[least]),
            _ => {
                if let Some(done) = open.take() {
                    rows.push(done, rules);
                    if rows.count == BY_PLACE_ROWS {
                        break;
                    }
                }
                open = Some(rules.begin(&sources[least]));
            }
        }
        sources[least].advance()?;
    }
    if let Some(done) = open {
        rows.push(done, rules);
    }
    Ok((rows.count > 0).then(|| rows.columns()))
}

/// Maximum files that are merged at once: one row group of each is in memory.
const MAX_AT_ONCE: usize = 16;
