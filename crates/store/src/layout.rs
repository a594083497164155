//! Which file lies where?
//!
//! ```text
//! inband-data/LOCK                                              held by the process that writes
//!             log/00000000000000000007.log                      rows that are in no segment yet
//!             observations/date=2026-11-21/hour=15/00000000000000000006.parquet
//!             paths/…  events/…  ledger/…  minutes/…            likewise
//! ```
//!
//! The number is the generation. A log and the segments made of it have the same one: as long as the log is
//! there it holds the rows, and its segments do not count.

use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::civil::Hour;
use crate::error::StoreError;

/// Counts logs from 1 on.
pub(crate) type Generation = u64;

/// A file with its place in the order of things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentFile {
    pub(crate) hour: Hour,
    pub(crate) generation: Generation,
    pub(crate) bytes: u64,
    pub(crate) path: PathBuf,
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

/// The logs, oldest first.
pub(crate) fn logs(root: &Path) -> Result<Vec<(Generation, PathBuf)>, StoreError> {
    let entries = entries(&log_directory(root))?;
    let mut logs: Vec<_> =
        entries.iter().filter_map(|entry| Some((number(entry, "log")?, entry.path()))).collect();
    logs.sort();
    Ok(logs)
}

/// The segments of a table, oldest hour first. Files of other names are left out.
pub(crate) fn segments(root: &Path, table: &str) -> Result<Vec<SegmentFile>, StoreError> {
    let mut segments = Vec::new();
    for date in entries(&root.join(table))? {
        for of_day in entries(&date.path())? {
            let names = (date.file_name(), of_day.file_name());
            let Some(hour) =
                names.0.to_str().zip(names.1.to_str()).and_then(|(date, hour)| Hour::parse(date, hour))
            else {
                continue;
            };
            for file in entries(&of_day.path())? {
                let Some(generation) = number(&file, "parquet") else { continue };
                // A file that is removed meanwhile has no size, and counts no more.
                let Ok(about) = file.metadata() else { continue };
                segments.push(SegmentFile { hour, generation, bytes: about.len(), path: file.path() });
            }
        }
    }
    segments.sort_by_key(|segment| (segment.hour, segment.generation));
    Ok(segments)
}

/// Removes what an interrupted write left behind.
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

/// What is in a directory; nothing when there is no such directory.
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
    let digits = name.to_str()?.strip_suffix(extension)?.strip_suffix('.')?;
    (digits.len() == 20).then(|| digits.parse().ok())?
}

/// Extension of a file that is being written.
pub(crate) const UNFINISHED: &str = "unfinished";
