//! The directory of a store: held by a lock, and watched, as somebody may remove or replace it.

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

/// A directory that belongs to this process.
#[derive(Debug)]
pub(crate) struct Place {
    root: PathBuf,
    counters: Arc<Counters>,
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    /// Keeps other processes out.
    lock: File,
    identity: Identity,
    /// How often the directory was lost and did not come back.
    turn: u64,
    missing: Option<Missing>,
    /// What is told of a directory that was lost, and since when it can be written again.
    healed: Option<(Instant, String)>,
}

/// A directory that is removed or replaced at this time.
#[derive(Debug)]
struct Missing {
    since: Instant,
    why: String,
    /// What had been lost before.
    gone: u64,
}

/// Which files are meant, whatever their names are: device and inode of the lock and of the directory of logs.
type Identity = [(u64, u64); 2];

impl Place {
    /// Makes the directory where there is none, and takes it.
    pub(crate) fn take(root: &Path, counters: Arc<Counters>) -> Result<Self, StoreError> {
        let (lock, identity) = take(root)?;
        let held = Held { lock, identity, turn: 0, missing: None, healed: None };
        Ok(Self { root: root.to_owned(), counters, held: Mutex::new(held) })
    }

    /// Whether the directory is still the one that is held, or another one that could be taken in its place.
    ///
    /// When it is lost, everything that was stored counts as gone; when the same one comes back, nothing does.
    pub(crate) fn watch(&self) -> bool {
        let mut held = self.held();
        let found = identity(&self.root);
        if found.as_ref().is_ok_and(|found| *found == held.identity) {
            if let Some(missing) = held.missing.take() {
                self.counters.gone.store(missing.gone, Ordering::Release);
                held.turn -= 1;
                held.healed = Some((Instant::now(), format!("{}; it is back", missing.why)));
            }
            return true;
        }
        if held.missing.is_none() {
            let why = match found {
                Ok(_) => format!("{} was replaced", self.root.display()),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    format!("{} was removed, or a part of it", self.root.display())
                }
                Err(error) => format!("{} cannot be read: {error}", self.root.display()),
            };
            let stored = self.counters.stored.load(Ordering::Acquire);
            let gone = self.counters.gone.swap(stored, Ordering::AcqRel);
            held.missing = Some(Missing { since: Instant::now(), why, gone });
            held.turn += 1;
        }
        self.take_again(&mut held)
    }

    /// Why the directory cannot be written, in words; `None` while it can. It is told for a while after it was lost.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.watch();
        let held = self.held();
        if let Some(missing) = &held.missing {
            return Some(missing.why.clone());
        }
        let (since, why) = held.healed.as_ref()?;
        (since.elapsed() < TELL_FOR).then(|| why.clone())
    }

    /// How often the directory was lost: what was stored in an earlier turn is gone.
    pub(crate) fn turn(&self) -> u64 {
        self.held().turn
    }

    /// Takes what is in the place of the directory, or makes it again.
    fn take_again(&self, held: &mut Held) -> bool {
        let Some(missing) = &held.missing else { return true };
        // Whoever moves another directory here needs a moment in which there is none.
        if missing.since.elapsed() < TAKE_AGAIN_AFTER {
            return false;
        }
        let Ok((lock, identity)) = take(&self.root) else { return false };
        let why = format!("{}; written again, what it held is gone", missing.why);
        (held.lock, held.identity, held.missing) = (lock, identity, None);
        held.healed = Some((Instant::now(), why));
        true
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // What is held is whole at any time.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    /// A program that was being started may hold a copy of the file a moment longer, and with it the lock.
    fn drop(&mut self) {
        // Where it fails, closing the file does it.
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

/// How long a directory is missed before another one takes its place.
const TAKE_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// How long it is told of a directory that was lost.
const TELL_FOR: Duration = Duration::from_secs(10);
