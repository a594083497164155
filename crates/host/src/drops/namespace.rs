//! Network namespaces, to select drops by.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::statfs;

use crate::error::HostError;
use crate::pattern;

/// A network namespace, identified by its inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(pub(super) u32);

/// Maximum number of namespaces whose drops are watched.
pub(super) const MAX_NAMESPACES: usize = 256;
/// The file system of namespaces, `NSFS_MAGIC`.
const NSFS: u64 = 0x6e73_6673;

impl Namespace {
    /// The namespace of the calling thread.
    ///
    /// # Errors
    /// A system without `/proc`.
    pub fn own() -> Result<Self, HostError> {
        Self::at(Path::new("/proc/thread-self/ns/net"))
    }

    /// Its inode.
    #[must_use]
    pub const fn inode(self) -> u32 {
        self.0
    }

    /// The namespace of a file such as `/run/netns/NAME` or `/proc/PID/ns/net`.
    ///
    /// # Errors
    /// A file that cannot be read, or is not a namespace.
    pub fn at(path: &Path) -> Result<Self, HostError> {
        let what = || format!("look at the network namespace {}", path.display());
        let fault = |reason: io::Error| HostError::system(what(), reason);
        let kind = statfs(path).map_err(|reason| fault(reason.into()))?.f_type;
        let inode = fs::metadata(path).map_err(fault)?.ino();
        match u32::try_from(inode) {
            // The file of a namespace that is gone may be left, empty.
            Ok(inode) if u64::try_from(kind) == Ok(NSFS) => Ok(Self(inode)),
            _ => Err(fault(ErrorKind::InvalidInput.into())),
        }
    }
}

/// The namespaces of an agent: its own, and those whose files match a pattern.
#[derive(Debug, Default)]
pub(crate) struct Namespaces {
    /// Absolute paths, in whose last name `*` stands for any characters.
    patterns: Vec<PathBuf>,
}

impl Namespaces {
    pub(crate) fn new(patterns: &[PathBuf]) -> Self {
        Self { patterns: patterns.to_vec() }
    }

    /// The namespaces that exist, this thread's first, and the number of others that are too many.
    ///
    /// # Errors
    /// A system without `/proc`.
    pub(crate) fn present(&self) -> Result<(Vec<Namespace>, usize), HostError> {
        let mut all = vec![Namespace::own()?];
        for path in self.patterns.iter().flat_map(|pattern| files(pattern)) {
            // One that has just gone, or is no namespace, has no drops.
            let Ok(namespace) = Namespace::at(&path) else { continue };
            if !all.contains(&namespace) {
                all.push(namespace);
            }
        }
        let beyond = all.len().saturating_sub(MAX_NAMESPACES);
        all.truncate(MAX_NAMESPACES);
        Ok((all, beyond))
    }
}

/// Whether `pattern` is one: an absolute path with `*` in its last name only.
pub(crate) fn is_pattern(pattern: &Path) -> bool {
    let has_star = |path: &Path| path.to_string_lossy().contains('*');
    pattern.is_absolute() && pattern.file_name().is_some() && !pattern.parent().is_some_and(has_star)
}

/// The files that match `pattern`, at most `MAX_FILES`, in the order of their names.
fn files(pattern: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (pattern.parent(), pattern.file_name()) else { return Vec::new() };
    let name = name.to_string_lossy();
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_meant = |path: &PathBuf| {
        path.file_name().is_some_and(|file| pattern::matches(&name, &file.to_string_lossy()))
    };
    let mut files: Vec<_> =
        entries.flatten().take(MAX_FILES).map(|entry| entry.path()).filter(is_meant).collect();
    files.sort_unstable();
    files
}

/// Maximum number of files of a folder that are looked at.
const MAX_FILES: usize = 4096;

#[cfg(test)]
mod tests;
