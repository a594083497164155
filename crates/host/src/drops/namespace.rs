//! Which network namespace does a drop have to be in?

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::HostError;

/// A network namespace, by the inode that the kernel gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(pub(super) u32);

/// Most namespaces whose drops are looked at.
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

    /// The namespace that a file stands for, such as `/run/netns/NAME` or `/proc/PID/ns/net`.
    ///
    /// # Errors
    /// A file that cannot be looked at, or stands for nothing.
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
