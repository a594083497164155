//! The logs of a lab's programs, which say that they run, or why they do not.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::error::LabError;
use crate::process::Process;

/// Waits until a program's log reports that it is running.
///
/// # Errors
/// It ends, or does not start in time; `stop` was set.
pub(crate) fn await_words(folder: &Path, process: &Process, stop: &AtomicBool) -> Result<(), LabError> {
    let log = folder.join(format!("log/{}.log", process.node));
    let until = Instant::now() + PATIENCE;
    while fs::metadata(&log).map_or(0, |file| file.len()) == 0 {
        LabError::if_stopped(stop)?;
        if !process.is_alive() {
            break;
        }
        if Instant::now() >= until {
            return Err(LabError::Program(format!(
                "`inband {}` on {} does not start",
                process.what, process.node
            )));
        }
        std::thread::sleep(STEP);
    }
    std::thread::sleep(STEP);
    if process.is_alive() {
        return Ok(());
    }
    Err(LabError::Program(format!("`inband {}` on {} has ended", process.what, process.node)))
}

/// The ends of all logs that are not empty.
pub(crate) fn ends(folder: &Path) -> String {
    let entries = fs::read_dir(folder.join("log")).into_iter().flatten().flatten();
    let mut texts = Vec::new();
    for entry in entries {
        let text = fs::read(entry.path()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        let last = lines.iter().skip(lines.len().saturating_sub(MAX_LOG_LINES));
        let name = entry.file_name().to_string_lossy().into_owned();
        texts.extend(last.map(|line| format!("{}: {line}", name.trim_end_matches(".log"))));
    }
    texts.join("\n")
}

/// How long a program may take to start.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// Interval at which a program that starts is looked at.
pub(crate) const STEP: Duration = Duration::from_millis(50);
/// Maximum lines of each log that are shown when a lab does not start.
const MAX_LOG_LINES: usize = 5;
