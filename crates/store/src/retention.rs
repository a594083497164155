//! Removal of segments by age and total size.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use inband_model::Nanos;
use inband_model::table::{FLOW_MINUTES, OBSERVATIONS, PATHS, REPORTS, shapes};

use crate::error::StoreError;
use crate::layout::{self, SegmentFile};
use crate::settings::StoreSettings;

/// Removes segments that are too old, then the oldest ones until the rest fits; returns how many.
///
/// While the tables that grow with the traffic take more than a quarter of the maximum size, the oldest
/// segments are theirs, so that events and roll-ups of the past stay; after that they are those of any table,
/// so that the latest rows stay, too.
///
/// Hours in the future, after a clock was set back, count as young.
pub(crate) fn apply(settings: &StoreSettings, now: Nanos) -> Result<u64, StoreError> {
    let mut removed = 0;
    let mut kept = Vec::new();
    for shape in shapes() {
        let retain = u64::try_from(settings.retain_of(shape.name).as_nanos()).unwrap_or(u64::MAX);
        let oldest = Nanos(now.0.saturating_sub(retain));
        for file in layout::segments(&settings.path, shape.name)? {
            if file.hour.end() <= oldest {
                removed += remove(&settings.path, &file)?;
            } else {
                kept.push((LARGE.contains(&shape.name), file.bytes(), file));
            }
        }
    }
    kept.sort_by_key(|(.., file)| (file.hour, file.generation));
    let of = |is_wanted: fn(bool) -> bool| -> u64 {
        kept.iter().filter(|(is_large, ..)| is_wanted(*is_large)).map(|(_, bytes, _)| bytes).sum()
    };
    let (mut bytes, mut large_bytes) = (of(|_| true), of(|is_large| is_large));
    let (large, small): (Vec<_>, Vec<_>) = kept.into_iter().partition(|(is_large, ..)| *is_large);
    let (mut large, mut small) = (VecDeque::from(large), VecDeque::from(small));
    while bytes > settings.max_size_bytes {
        let is_large_older = match (large.front(), small.front()) {
            (Some((.., large)), Some((.., small))) => large.hour <= small.hour,
            (large, _) => large.is_some(),
        };
        let takes_most = !large.is_empty() && large_bytes > settings.max_size_bytes / 4;
        let from = if takes_most || is_large_older { &mut large } else { &mut small };
        let Some((is_large, file_bytes, file)) = from.pop_front() else { break };
        bytes -= file_bytes;
        large_bytes -= if is_large { file_bytes } else { 0 };
        removed += remove(&settings.path, &file)?;
    }
    Ok(removed)
}

fn remove(root: &Path, file: &SegmentFile) -> Result<u64, StoreError> {
    match fs::remove_file(&file.path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(StoreError::io("remove", &file.path)(error));
        }
        _ => {}
    }
    remove_empty(root, &file.path);
    Ok(1)
}

/// Removes the directories of the hour and the day of a file if they are empty.
pub(crate) fn remove_empty(root: &Path, file: &Path) {
    for directory in file.ancestors().skip(1).take(2).take_while(|directory| *directory != root) {
        let emptied: io::Result<()> = fs::remove_dir(directory);
        if emptied.is_err() {
            break;
        }
    }
}

/// The tables with rows for each report or flow.
const LARGE: [&str; 4] = [OBSERVATIONS.name, PATHS.name, FLOW_MINUTES.name, REPORTS.name];

#[cfg(test)]
mod tests;
