//! Messages in files, one JSON object per line.

mod files;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use inband_model::{Names, quantity};
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::delivery::{self, Export, Work};
use super::error::ExportError;
use super::message::{Message, Topic, Topics};
use super::queue::Next;
use super::tally::{Failure, Tally};
use files::Files;

/// Messages in files, one JSON object per line: `[jsonl]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JsonlSettings {
    /// The file; `-` is stdout; empty: nothing is written. Default empty.
    pub path: PathBuf,
    /// What is written: `paths`, `events`, `ledger`, `observations`. Default all but the last.
    pub what: Vec<Topic>,
    /// Size at which a file is rotated, such as `100MB`. Default `100MB`.
    #[serde(with = "quantity::size")]
    pub max_size: u64,
    /// Rotated files that are kept, as `PATH.1` (the newest) and so on. Default 4.
    pub keep: u32,
    /// Messages that may be queued; more are dropped and counted. Default 100,000.
    pub queue: u64,
}

impl Default for JsonlSettings {
    fn default() -> JsonlSettings {
        JsonlSettings {
            path: PathBuf::new(),
            what: vec![Topic::Paths, Topic::Events, Topic::Ledger],
            max_size: 100_000_000,
            keep: 4,
            queue: 100_000,
        }
    }
}

/// Starts writing.
pub(super) fn start(
    settings: &JsonlSettings,
    names: &Arc<Names>,
    tally: Arc<Tally>,
) -> Result<Export<Topics>, ExportError> {
    let files = match settings.path.as_os_str().to_str() {
        Some("-") => Files::stdout(),
        _ => Files::open(&settings.path, settings.max_size, settings.keep).map_err(|source| {
            let path = settings.path.clone();
            ExportError::Write { output: tally.output().to_owned(), path, source }
        })?,
    };
    let names = Arc::clone(names);
    let work = move |work| run(files, &names, &work);
    delivery::start(Topics::new(&settings.what), settings.queue, tally, work)
}

/// Runs the thread.
fn run(mut files: Files, names: &Names, work: &Work<Message>) {
    loop {
        let mut next = work.outlet.next(PATIENCE);
        let (mut lines, mut ends) = (Vec::new(), Vec::new());
        while let Next::Item(message) = next {
            message.each_json(names, |_, json| {
                lines.extend_from_slice(json);
                lines.push(b'\n');
                ends.push(lines.len());
            });
            if lines.len() >= MAX_BYTES {
                next = Next::Nothing;
                break;
            }
            next = work.outlet.next(Duration::ZERO);
        }
        write(&mut files, &lines, &ends, &work.tally);
        if matches!(next, Next::End) {
            return;
        }
    }
}

/// Writes whole lines and counts them.
fn write(files: &mut Files, lines: &[u8], ends: &[usize], tally: &Tally) {
    if ends.is_empty() {
        return;
    }
    let (written, error) = files.append(lines, ends);
    tally.count_exported(written as u64);
    tally.count_failed(Failure::Disk, (ends.len() - written) as u64);
    tally.note_answer(&match error {
        None => Answer::Taken,
        Some(error) => Answer::Refused(format!("cannot write: {error}")),
    });
}

/// How long the thread waits for messages before it checks again.
const PATIENCE: Duration = Duration::from_secs(1);
/// Bytes that are written at once, about.
const MAX_BYTES: usize = 256 << 10;

#[cfg(test)]
mod tests;
