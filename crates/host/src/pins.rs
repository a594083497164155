//! Sinks that outlive the agent: their links are pinned in a BPF file system.
//!
//! After the agent's end, however it comes, the sink of each device continues to remove INT until another
//! agent replaces it or [`remove`](crate::remove) is called. What starts INT is not pinned, so that it ends
//! with the agent.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use inband_linux::bpf;

use crate::error::HostError;
use crate::proofs::granted_by;

/// The pins of the sinks of one network namespace.
#[derive(Debug)]
pub(crate) struct Pins {
    folder: PathBuf,
}

/// The prefix of the names of pins; the interface index follows.
const SINK: &str = "sink-";

impl Pins {
    /// The pins of this network namespace below `root`, a folder of a BPF file system that need not exist.
    ///
    /// # Errors
    /// There is no BPF file system, or this user may not write there.
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        let folder = folder(root)?;
        if !bpf::is_bpf_fs(existing(&folder))? {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "no BPF file system"));
        }
        fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    /// The pinned sink of `device`, which runs `program` from here on; `None`: not pinned.
    pub(crate) fn take_over(
        &self,
        device: u32,
        program: BorrowedFd<'_>,
    ) -> Result<Option<OwnedFd>, HostError> {
        let path = self.path(device);
        let Ok(link) = bpf::pinned(&path) else { return Ok(None) };
        // The index may belong to a device that is gone.
        let is_of_device = bpf::interface(link.as_fd()).is_ok_and(|interface| interface == Some(device));
        if is_of_device && bpf::replace(link.as_fd(), program).is_ok() {
            return Ok(Some(link));
        }
        let fault = |reason| HostError::system(format!("remove {}", path.display()), reason);
        fs::remove_file(&path).map_err(fault)?;
        Ok(None)
    }

    /// The addresses whose INT is removed by sinks that an earlier agent left.
    pub(crate) fn granted(&self) -> Vec<IpAddr> {
        let links = devices(&self.folder).unwrap_or_default().into_iter();
        let programs =
            links.filter_map(|device| bpf::program(bpf::pinned(&self.path(device)).ok()?.as_fd()).ok());
        programs.flat_map(granted_by).collect()
    }

    /// Pins `link`, so that it outlives the agent.
    pub(crate) fn keep(&self, device: u32, link: BorrowedFd<'_>) -> Result<(), HostError> {
        let path = self.path(device);
        bpf::pin(link, &path).map_err(|reason| HostError::system(format!("pin {}", path.display()), reason))
    }

    /// Detaches the sink of `device`; a missing one is no error.
    pub(crate) fn release(&self, device: u32) -> Result<(), HostError> {
        let path = self.path(device);
        release(&path).map_err(|reason| HostError::system(format!("remove {}", path.display()), reason))
    }

    /// Detaches the sinks of all devices but `kept`.
    pub(crate) fn release_others(&self, kept: &[u32]) -> Result<(), HostError> {
        let fault = |reason| HostError::system(format!("look into {}", self.folder.display()), reason);
        for device in devices(&self.folder).map_err(fault)? {
            if !kept.contains(&device) {
                self.release(device)?;
            }
        }
        Ok(())
    }

    fn path(&self, device: u32) -> PathBuf {
        self.folder.join(format!("{SINK}{device}"))
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        // This fails while a sink is in it.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Detaches every sink of this network namespace below `root`; returns how many there were.
///
/// # Errors
/// An error of the system; that there is nothing is no error.
pub(crate) fn remove_all(root: &Path) -> io::Result<usize> {
    let folder = folder(root)?;
    let devices = match devices(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        devices => devices?,
    };
    for device in &devices {
        release(&folder.join(format!("{SINK}{device}")))?;
    }
    fs::remove_dir(&folder)?;
    Ok(devices.len())
}

/// The folder of this network namespace, named by its inode.
fn folder(root: &Path) -> io::Result<PathBuf> {
    let namespace = fs::metadata("/proc/thread-self/ns/net")?.ino();
    Ok(root.join(format!("net-{namespace}")))
}

/// The devices whose sinks are pinned in `folder`.
fn devices(folder: &Path) -> io::Result<Vec<u32>> {
    let mut devices = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        devices.extend(name.to_str().and_then(|name| name.strip_prefix(SINK)?.parse::<u32>().ok()));
    }
    Ok(devices)
}

fn release(path: &Path) -> io::Result<()> {
    let link = match bpf::pinned(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        link => link?,
    };
    fs::remove_file(path)?;
    match bpf::detach(link.as_fd()) {
        // The device of the link is gone.
        Err(error) if error.raw_os_error() == Some(libc::ENOLINK) => Ok(()),
        detached => detached,
    }
}

/// The deepest existing folder of `path`.
fn existing(path: &Path) -> &Path {
    path.ancestors().find(|folder| folder.is_dir()).unwrap_or(path)
}
