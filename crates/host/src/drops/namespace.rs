//! Network namespaces, to select drops by.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::HostError;

/// A network namespace, identified by its inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(pub(super) u32);

/// Maximum number of namespaces whose drops are watched.
pub(super) const MAX_NAMESPACES: usize = 256;

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
        let what = format!("look at the network namespace {}", path.display());
        let inode = fs::metadata(path).map(|file| file.ino());
        match inode.map(u32::try_from) {
            Ok(Ok(inode)) => Ok(Self(inode)),
            Ok(Err(_)) => Err(HostError::System { what, reason: std::io::ErrorKind::InvalidInput.into() }),
            Err(reason) => Err(HostError::System { what, reason }),
        }
    }
}
