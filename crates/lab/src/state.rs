//! The record of a lab on disk, for its removal after any of its processes was killed.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use inband_linux::backlog;
use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::process::Process;
use crate::topology::Fault;

/// A lab's record on disk, locked by the process that changes it.
#[derive(Debug)]
pub struct State {
    folder: PathBuf,
    /// The record.
    pub facts: Facts,
    _lock: File,
}

/// The record of a lab.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Facts {
    /// Its name.
    pub name: String,
    /// Every namespace that it has, or may have.
    pub namespaces: Vec<String>,
    /// Folders of a BPF file system that its hosts use.
    pub pins: Vec<PathBuf>,
    /// The processes that were started.
    pub processes: Vec<Process>,
    /// The faults in force, in the order in which they were applied.
    pub faults: Vec<Fault>,
    /// Whether everything was started.
    pub is_complete: bool,
    /// Packets that the machine had dropped in its backlog before the lab; none: unknown.
    #[serde(default)]
    pub dropped_before: Option<u64>,
}

impl Facts {
    /// Packets that the machine has dropped in its backlog since the lab's creation; none: unknown.
    #[must_use]
    pub fn backlog_drops(&self) -> Option<u64> {
        backlog::dropped().ok()?.checked_sub(self.dropped_before?)
    }
}

impl State {
    /// Creates the state of a lab that is not up.
    ///
    /// # Errors
    /// It is up; the folder cannot be written.
    pub fn create(name: &str) -> Result<Self, LabError> {
        let folder = folder(name);
        let mut builder = fs::DirBuilder::new();
        builder.mode(0o755).recursive(true).create(FOLDER).map_err(LabError::files(Path::new(FOLDER)))?;
        match fs::DirBuilder::new().mode(0o755).create(&folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(LabError::Usage(format!(
                    "the lab `{name}` is up already; `inband lab down {name}` takes it down"
                )));
            }
            made => made.map_err(LabError::files(&folder))?,
        }
        fs::create_dir(folder.join("log")).map_err(LabError::files(&folder))?;
        let lock = lock(&folder)?;
        let dropped_before = backlog::dropped().ok();
        let facts = Facts { name: name.to_owned(), dropped_before, ..Facts::default() };
        let state = Self { folder, facts, _lock: lock };
        state.save()?;
        Ok(state)
    }

    /// The state of a lab that is up, or was left behind.
    ///
    /// # Errors
    /// There is no such lab; its state cannot be read.
    pub fn open(name: &str) -> Result<Self, LabError> {
        let folder = folder(name);
        if !is_name(name) || !folder.is_dir() {
            let up = list().join(", ");
            let others = if up.is_empty() { "none is".into() } else { format!("up: {up}") };
            return Err(LabError::Usage(format!("the lab `{name}` is not up ({others})")));
        }
        let lock = lock(&folder)?;
        let facts = match fs::read(folder.join(FACTS)) {
            Ok(text) => {
                serde_json::from_slice(&text).map_err(|error| LabError::files(&folder)(error.into()))?
            }
            // Killed before it wrote or created anything.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Facts { name: name.to_owned(), ..Facts::default() }
            }
            Err(error) => return Err(LabError::files(&folder)(error)),
        };
        Ok(Self { folder, facts, _lock: lock })
    }

    /// Writes the record.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn save(&self) -> Result<(), LabError> {
        let text = serde_json::to_vec_pretty(&self.facts)
            .map_err(|error| LabError::files(&self.folder)(error.into()))?;
        self.write(FACTS, &text)
    }

    /// Writes a file of the lab atomically.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, name: &str, text: &[u8]) -> Result<(), LabError> {
        write_whole(&self.folder.join(name), text).map_err(LabError::files(&self.folder))
    }

    /// The folder of the lab's files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Deletes the record.
    ///
    /// # Errors
    /// The folder cannot be removed.
    pub fn remove(self) -> Result<(), LabError> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(LabError::files(&self.folder)(error)),
            _ => Ok(()),
        }
    }
}

/// Writes a temporary file, and renames it to its path.
pub(crate) fn write_whole(path: &Path, text: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    fs::write(&beside, text)?;
    fs::rename(&beside, path)
}

/// The labs that are up, or were left behind.
#[must_use]
pub fn list() -> Vec<String> {
    let entries = fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// The folder of a lab's files.
#[must_use]
pub fn folder(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains('/')
}

/// Waits until no other process changes the lab.
fn lock(folder: &Path) -> Result<File, LabError> {
    let file = File::create(folder.join("lock")).map_err(LabError::files(folder))?;
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(LabError::Usage("another command is changing this lab".into()));
            }
            Err(TryLockError::Error(error)) => return Err(LabError::files(folder)(error)),
        }
    }
}

/// The folder of all labs.
const FOLDER: &str = "/run/inband/lab";
const FACTS: &str = "state.json";
/// Maximum wait for another command that changes a lab.
const PATIENCE: Duration = Duration::from_secs(10);
