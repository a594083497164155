//! The directory of a store: locked, and watched for removal or replacement.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::StoreError;
use crate::layout;
use crate::tally::Counters;

/// A directory that this process has locked.
#[derive(Debug)]
pub(crate) struct Place {
    root: PathBuf,
    counters: Arc<Counters>,
    /// Locked while the file system is asked, which may take long.
    held: Mutex<Held>,
    /// Locked only to read or replace what was found last.
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Held {
    /// Excludes other processes.
    lock: File,
    identity: Identity,
}

/// What was found when the directory was last looked at.
#[derive(Debug, Default)]
struct Known {
    /// How often the directory was lost permanently.
    turn: u64,
    missing: Option<Missing>,
    /// When a lost directory became writable again, and the message about it.
    healed: Option<(Instant, String)>,
}

/// A directory that is missing or replaced.
#[derive(Debug)]
struct Missing {
    since: Instant,
    why: String,
    /// The count of gone reports before.
    gone: u64,
}

/// Device and inode of the lock file and of the log directory, which identify them whatever their names are.
type Identity = [(u64, u64); 2];

impl Place {
    /// Creates the directory if needed, and locks it.
    pub(crate) fn take(root: &Path, counters: Arc<Counters>) -> Result<Self, StoreError> {
        let (lock, identity) = take(root)?;
        let held = Mutex::new(Held { lock, identity });
        Ok(Self { root: root.to_owned(), counters, held, known: Mutex::default() })
    }

    /// Whether the locked directory is in place, or another one could be locked instead. It waits for the
    /// file system.
    ///
    /// When it is lost, everything stored in it counts as gone; when the same directory returns, nothing
    /// does.
    pub(crate) fn watch(&self) -> bool {
        let mut held = self.held();
        let found = identity(&self.root);
        if found.as_ref().is_ok_and(|found| *found == held.identity) {
            self.known().come_back(&self.counters);
            return true;
        }
        let missing_for = {
            let mut known = self.known();
            if known.missing.is_none() {
                let why = match found {
                    Ok(_) => format!("{} was replaced", self.root.display()),
                    Err(error) if error.kind() == ErrorKind::NotFound => {
                        format!("{} was removed, or a part of it", self.root.display())
                    }
                    Err(error) => format!("{} cannot be read: {error}", self.root.display()),
                };
                known.lose(why, &self.counters);
            }
            known.missing_for()
        };
        // Moving another directory here leaves a moment without one.
        missing_for >= TAKE_AGAIN_AFTER && self.take_again(&mut held)
    }

    /// Why the directory could not be written when it was last looked at; `None` if it could. A loss is
    /// reported for a while after it has healed. Never waits for the file system.
    pub(crate) fn trouble(&self) -> Option<String> {
        let known = self.known();
        if let Some(missing) = &known.missing {
            return Some(missing.why.clone());
        }
        let (since, why) = known.healed.as_ref()?;
        (since.elapsed() < TELL_FOR).then(|| why.clone())
    }

    /// How often the directory was lost: rows stored in an earlier turn are gone. Never waits for the file
    /// system.
    pub(crate) fn turn(&self) -> u64 {
        self.known().turn
    }

    /// Locks the directory that is in its place, or recreates it.
    fn take_again(&self, held: &mut Held) -> bool {
        let Ok((lock, identity)) = take(&self.root) else { return false };
        (held.lock, held.identity) = (lock, identity);
        let mut known = self.known();
        if let Some(missing) = known.missing.take() {
            let why = format!("{}; written again, what it held is gone", missing.why);
            known.healed = Some((Instant::now(), why));
        }
        true
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // The state is valid at any time.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // It is valid at any time.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// The directory is missing, and everything in it is gone.
    fn lose(&mut self, why: String, counters: &Counters) {
        let stored = counters.stored.load(Ordering::Acquire);
        let gone = counters.gone.swap(stored, Ordering::AcqRel);
        self.missing = Some(Missing { since: Instant::now(), why, gone });
        self.turn += 1;
    }

    /// The directory is in place; if it was missing, nothing in it is gone.
    fn come_back(&mut self, counters: &Counters) {
        let Some(missing) = self.missing.take() else { return };
        counters.gone.store(missing.gone, Ordering::Release);
        self.turn -= 1;
        self.healed = Some((Instant::now(), format!("{}; it is back", missing.why)));
    }

    /// How long the directory has been missing; 0 if it is not.
    fn missing_for(&self) -> Duration {
        self.missing.as_ref().map_or(Duration::ZERO, |missing| missing.since.elapsed())
    }
}

impl Drop for Held {
    /// A child process that is just starting may hold a copy of the file, and with it the lock.
    fn drop(&mut self) {
        // If this fails, closing the file unlocks it.
        drop(self.lock.unlock());
    }
}

fn take(root: &Path) -> Result<(File, Identity), StoreError> {
    let logs = layout::log_directory(root);
    fs::create_dir_all(&logs).map_err(StoreError::io("make", &logs))?;
    let path = layout::lock_file(root);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(StoreError::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok((file, identity(root).map_err(StoreError::io("read", root))?)),
        Err(fs::TryLockError::WouldBlock) => Err(StoreError::InUse(root.to_owned())),
        Err(fs::TryLockError::Error(source)) => Err(StoreError::io("lock", &path)(source)),
    }
}

fn identity(root: &Path) -> io::Result<Identity> {
    Ok([file_identity(&layout::lock_file(root))?, file_identity(&layout::log_directory(root))?])
}

/// Device and inode of a file.
pub(crate) fn file_identity(path: &Path) -> io::Result<(u64, u64)> {
    let about = fs::metadata(path)?;
    Ok((about.dev(), about.ino()))
}

/// How long a directory must be missing before another one is used.
const TAKE_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// How long a lost directory is reported.
const TELL_FOR: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
