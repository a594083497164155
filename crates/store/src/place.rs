//! The directory of a store: locked, and watched for removal or replacement.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use inband_model::table::{OBSERVATIONS, shapes};

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
    /// The directory itself; open, so that no other one gets its inode.
    _root: File,
    identity: Identity,
    /// Whether it had a directory of observations when it was last looked at. Only others remove that.
    has_rows: bool,
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
    /// The count of gone reports before, if everything in the directory is gone.
    gone: Option<u64>,
    /// The directory was emptied: its return brings nothing back.
    is_emptied: bool,
}

/// Device and inode of the directory, the lock file and the log directory, which identify them whatever their
/// names are.
type Identity = [(u64, u64); 3];

impl Place {
    /// Creates the directory if needed, and locks it.
    pub(crate) fn take(root: &Path, counters: Arc<Counters>) -> Result<Self, StoreError> {
        let held = Mutex::new(take(root)?);
        Ok(Self { root: root.to_owned(), counters, held, known: Mutex::default() })
    }

    /// Whether the locked directory is in place, or another one could be locked instead. It waits for the
    /// file system.
    ///
    /// When it is lost, everything stored in it counts as gone; when the same directory returns, nothing
    /// does. Segments are where they were if only the lock file or the log directory is missing, and are gone
    /// if the directory was emptied.
    pub(crate) fn watch(&self) -> bool {
        let mut held = self.held();
        let found = identity(&self.root);
        let is_emptied = held.is_emptied(&self.root);
        let is_there = self.is_there(&held);
        let is_emptied = is_emptied && is_there;
        if !is_emptied && found.as_ref().is_ok_and(|found| *found == held.identity) {
            self.known().come_back(&self.counters);
            return true;
        }
        let missing_for = {
            let mut known = self.known();
            if known.missing.is_none() {
                let root = self.root.display();
                let why = match found {
                    _ if is_emptied => format!("{root} was emptied"),
                    _ if is_there => format!("a part of {root} was removed or replaced"),
                    Ok(_) => format!("{root} was replaced"),
                    Err(error) if error.kind() == ErrorKind::NotFound => format!("{root} was removed"),
                    Err(error) => format!("{root} cannot be read: {error}"),
                };
                known.missing = Some(Missing { since: Instant::now(), why, gone: None, is_emptied });
            }
            if !is_there || is_emptied {
                known.lose(is_emptied, &self.counters);
            }
            known.missing_for()
        };
        // Moving another directory here leaves a moment without one.
        missing_for >= TAKE_AGAIN_AFTER && self.take_again(&mut held, is_there)
    }

    /// Whether the locked directory itself is in place, with its segments.
    fn is_there(&self, held: &Held) -> bool {
        is_file(&self.root, held.identity[0])
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

    /// How long the directory has been missing; 0 if it is not. Never waits for the file system.
    pub(crate) fn missing_for(&self) -> Duration {
        self.known().missing_for()
    }

    /// Locks the directory that is in its place, or recreates it. The logs and generations of another history
    /// are unknown, so that is not written.
    fn take_again(&self, held: &mut Held, is_there: bool) -> bool {
        let has_other = !is_there && has_history(&self.root);
        if has_other {
            if let Some(missing) = &mut self.known().missing {
                let root = self.root.display();
                missing.why =
                    format!("{root} was replaced by another history, which a restart would continue");
            }
            return false;
        }
        let is_locked = is_there && is_file(&layout::lock_file(&self.root), held.identity[1]);
        let taken = if is_locked { held.make_log_directory(&self.root) } else { held.replace(&self.root) };
        if taken.is_err() {
            return false;
        }
        let mut known = self.known();
        match is_there {
            true => known.come_back(&self.counters),
            false => known.begin_again(),
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

impl Held {
    /// Whether the directory of observations has been removed since it was last looked at.
    fn is_emptied(&mut self, root: &Path) -> bool {
        let has_rows = has_rows(root);
        std::mem::replace(&mut self.has_rows, has_rows) && !has_rows
    }

    /// Replaces the log directory, in a directory that is still locked.
    fn make_log_directory(&mut self, root: &Path) -> Result<(), StoreError> {
        let logs = layout::log_directory(root);
        fs::create_dir_all(&logs).map_err(StoreError::io("make", &logs))?;
        self.identity = identity(root).map_err(StoreError::io("read", root))?;
        Ok(())
    }

    /// Locks another directory, or the same one by another lock file.
    fn replace(&mut self, root: &Path) -> Result<(), StoreError> {
        *self = take(root)?;
        Ok(())
    }
}

impl Known {
    /// Everything in the missing directory is gone.
    fn lose(&mut self, is_emptied: bool, counters: &Counters) {
        let Some(missing) = &mut self.missing else { return };
        missing.is_emptied |= is_emptied;
        if missing.gone.is_some() {
            return;
        }
        let stored = counters.stored.load(Ordering::Acquire);
        missing.gone = Some(counters.gone.swap(stored, Ordering::AcqRel));
        self.turn += 1;
    }

    /// Another directory is written, or an empty one.
    fn begin_again(&mut self) {
        let Some(missing) = self.missing.take() else { return };
        let why = format!("{}; written again, what it held is gone", missing.why);
        self.healed = Some((Instant::now(), why));
    }

    /// The directory is in place; if it was missing and was not emptied, nothing in it is gone.
    fn come_back(&mut self, counters: &Counters) {
        if self.missing.as_ref().is_some_and(|missing| missing.is_emptied) {
            return self.begin_again();
        }
        let Some(missing) = self.missing.take() else { return };
        if let Some(gone) = missing.gone {
            counters.gone.store(gone, Ordering::Release);
            self.turn -= 1;
        }
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

fn take(root: &Path) -> Result<Held, StoreError> {
    let logs = layout::log_directory(root);
    fs::create_dir_all(&logs).map_err(StoreError::io("make", &logs))?;
    let path = layout::lock_file(root);
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(StoreError::io("open", &path))?;
    match lock.try_lock() {
        Ok(()) => {
            let directory = File::open(root).map_err(StoreError::io("open", root))?;
            let identity = identity(root).map_err(StoreError::io("read", root))?;
            Ok(Held { lock, _root: directory, identity, has_rows: has_rows(root) })
        }
        Err(fs::TryLockError::WouldBlock) => Err(StoreError::InUse(root.to_owned())),
        Err(fs::TryLockError::Error(source)) => Err(StoreError::io("lock", &path)(source)),
    }
}

fn identity(root: &Path) -> io::Result<Identity> {
    let parts = [&layout::lock_file(root), &layout::log_directory(root)].map(|path| file_identity(path));
    let [lock, logs] = parts;
    Ok([file_identity(root)?, lock?, logs?])
}

/// Whether a store has a directory of observations, as far as known.
fn has_rows(root: &Path) -> bool {
    let about = fs::metadata(root.join(OBSERVATIONS.name));
    about.map_or_else(|error| error.kind() != ErrorKind::NotFound, |_| true)
}

/// Whether a directory is a store's, with logs or segments, as far as it can be read.
fn has_history(root: &Path) -> bool {
    let has_entries = |path: &Path| fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    let tables = shapes().iter().map(|shape| root.join(shape.name)).collect::<Vec<_>>();
    // A segment that was being written when the directory was moved away makes only its own directories.
    layout::lock_file(root).exists()
        && (has_entries(&layout::log_directory(root)) || tables.iter().any(|table| has_entries(table)))
}

/// Whether the file with this name has this device and inode.
fn is_file(path: &Path, identity: (u64, u64)) -> bool {
    file_identity(path).is_ok_and(|found| found == identity)
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
