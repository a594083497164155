//! The files of a store and their names.
//!
//! ```text
//! inband-data/LOCK                                              held by the process that writes
//!             log/00000000000000000007.log                      rows that are in no segment yet
//!             observations/date=2026-11-21/hour=15/00000000000000000006.parquet
//!             paths/…  events/…  ledger/…  minutes/…            with the same subdirectories
//! ```
//!
//! The number is the generation. A log and the segments made from it share it: as long as the log exists, it
//! provides the rows and its segments are ignored. A file merged from several generations has the first and
//! the last in its name, `00000000000000000001-00000000000000000060.parquet`, and replaces theirs.

use std::cmp::Reverse;
use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::civil::Hour;
use crate::error::StoreError;

/// Counts logs from 1.
pub(crate) type Generation = u64;

/// A segment file with its hour and generations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentFile {
    pub(crate) hour: Hour,
    /// The first generation in it.
    pub(crate) first: Generation,
    /// The last generation in it.
    pub(crate) generation: Generation,
    pub(crate) path: PathBuf,
}

impl SegmentFile {
    /// Its size; 0 if it was removed since it was listed.
    pub(crate) fn bytes(&self) -> u64 {
        let about = match fs::metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::metadata(self.path.with_extension(REPLACED))
            }
            other => other,
        };
        about.map_or(0, |about| about.len())
    }
}

pub(crate) fn lock_file(root: &Path) -> PathBuf {
    root.join("LOCK")
}

pub(crate) fn log_directory(root: &Path) -> PathBuf {
    root.join("log")
}

pub(crate) fn log_file(root: &Path, generation: Generation) -> PathBuf {
    log_directory(root).join(format!("{generation:020}.log"))
}

pub(crate) fn segment_file(root: &Path, table: &str, hour: Hour, generation: Generation) -> PathBuf {
    let [date, of_day] = hour.directories();
    root.join(table).join(date).join(of_day).join(format!("{generation:020}.parquet"))
}

/// The file, in the same directory, that replaces those of these generations.
pub(crate) fn merged_file(beside: &Path, first: Generation, last: Generation) -> PathBuf {
    beside.with_file_name(format!("{first:020}-{last:020}.parquet"))
}

/// The logs, oldest first.
pub(crate) fn logs(root: &Path) -> Result<Vec<(Generation, PathBuf)>, StoreError> {
    logs_with(root, "log")
}

/// The damaged logs that have become segments as far as they could be read, oldest first.
pub(crate) fn damaged_logs(root: &Path) -> Result<Vec<(Generation, PathBuf)>, StoreError> {
    logs_with(root, DAMAGED)
}

fn logs_with(root: &Path, extension: &str) -> Result<Vec<(Generation, PathBuf)>, StoreError> {
    let entries = entries(&log_directory(root))?;
    let mut logs: Vec<_> =
        entries.iter().filter_map(|entry| Some((number(entry, extension)?, entry.path()))).collect();
    logs.sort();
    Ok(logs)
}

/// The segments of a table, oldest hour first; without replaced ones and files with other names.
pub(crate) fn segments(root: &Path, table: &str) -> Result<Vec<SegmentFile>, StoreError> {
    Ok(apart(root, table)?.0)
}

/// The segments of a table that another one replaces.
pub(crate) fn covered(root: &Path, table: &str) -> Result<Vec<SegmentFile>, StoreError> {
    Ok(apart(root, table)?.1)
}

/// The valid segments of a table, and those that another one replaces.
fn apart(root: &Path, table: &str) -> Result<(Vec<SegmentFile>, Vec<SegmentFile>), StoreError> {
    let mut segments = Vec::new();
    each_file(root, table, |hour, file| {
        let Some((first, generation)) = generations(file) else { return };
        segments.push(SegmentFile { hour, first, generation, path: file.path() });
    })?;
    segments.sort_by_key(|segment| (segment.hour, segment.first, Reverse(segment.generation)));
    // A replacement sorts before the files that it replaces.
    let mut reach: Option<(Hour, Generation)> = None;
    let counts = |segment: &SegmentFile| {
        let is_covered = reach.is_some_and(|(hour, last)| hour == segment.hour && segment.generation <= last);
        if !is_covered {
            reach = Some((segment.hour, segment.generation));
        }
        !is_covered
    };
    Ok(segments.into_iter().partition(counts))
}

/// Replaced files of a table that are not yet removed.
pub(crate) fn replaced(root: &Path, table: &str) -> Result<Vec<PathBuf>, StoreError> {
    let mut replaced = Vec::new();
    each_file(root, table, |_, file| {
        let path = file.path();
        if path.extension().is_some_and(|extension| extension == REPLACED) {
            replaced.push(path);
        }
    })?;
    Ok(replaced)
}

/// Passes each file of a table to `take`, with its hour.
fn each_file(root: &Path, table: &str, mut take: impl FnMut(Hour, &DirEntry)) -> Result<(), StoreError> {
    for date in entries(&root.join(table))? {
        for of_day in entries(&date.path())? {
            let names = (date.file_name(), of_day.file_name());
            let Some(hour) =
                names.0.to_str().zip(names.1.to_str()).and_then(|(date, hour)| Hour::parse(date, hour))
            else {
                continue;
            };
            entries(&of_day.path())?.iter().for_each(|file| take(hour, file));
        }
    }
    Ok(())
}

/// Removes what interrupted writes left behind.
pub(crate) fn remove_unfinished(root: &Path, tables: &[&str]) -> Result<(), StoreError> {
    for table in tables {
        for date in entries(&root.join(table))? {
            for hour in entries(&date.path())? {
                for file in entries(&hour.path())? {
                    let path = file.path();
                    if path.extension().is_some_and(|extension| extension == UNFINISHED) {
                        fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// The entries of a directory; none if it does not exist.
fn entries(path: &Path) -> Result<Vec<DirEntry>, StoreError> {
    let listed = match fs::read_dir(path) {
        Ok(listed) => listed.collect::<io::Result<Vec<_>>>(),
        Err(error) => Err(error),
    };
    match listed {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        other => other.map_err(StoreError::io("list", path)),
    }
}

/// The generation in the name of a file with this extension.
fn number(entry: &DirEntry, extension: &str) -> Option<Generation> {
    let name = entry.file_name();
    generation(name.to_str()?.strip_suffix(extension)?.strip_suffix('.')?)
}

/// The first and the last generation in a segment's name.
fn generations(entry: &DirEntry) -> Option<(Generation, Generation)> {
    let name = entry.file_name();
    let name = name.to_str()?.strip_suffix(".parquet")?;
    match name.split_once('-') {
        None => generation(name).map(|generation| (generation, generation)),
        Some((first, last)) => generation(first).zip(generation(last)).filter(|(first, last)| first <= last),
    }
}

fn generation(digits: &str) -> Option<Generation> {
    (digits.len() == 20).then(|| digits.parse().ok())?
}

/// Extension of a file that is being written.
pub(crate) const UNFINISHED: &str = "unfinished";
/// Extension of a file that has been replaced.
pub(crate) const REPLACED: &str = "replaced";
/// Extension of a damaged log whose readable rows are in segments.
pub(crate) const DAMAGED: &str = "damaged";

#[cfg(test)]
mod tests;
