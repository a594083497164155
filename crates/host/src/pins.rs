//! Sinks that outlive the agent: their links and tables are pinned in a BPF file system.
//!
//! After the agent's end, however it comes, the sink of each device continues to remove INT until another
//! agent replaces it or [`remove`](crate::remove()) is called. What starts INT is not pinned, so that it ends
//! with the agent.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use aya::maps::Map;
use inband_linux::bpf;

use crate::error::HostError;
use crate::programs::Programs;
use crate::proofs::{ended_always_in, granted_by, granted_in};
use crate::rules::MappedPrefix;

/// The pins of the sinks of one network namespace.
#[derive(Debug)]
pub(crate) struct Pins {
    folder: PathBuf,
    /// The lock on the folder.
    _lock: File,
}

/// The prefix of the names of pins; the interface index follows.
const SINK: &str = "sink-";
/// The names of the pins of the tables of leases and of peers.
const GRANTED: &str = "granted";
const PEERS: &str = "peers";
/// The prefix of the names of folders; the inode of the network namespace follows.
const NAMESPACE: &str = "net-";

/// How often a folder is locked that another process has or removes, and how long it is waited for.
const MAX_TRIES: u32 = 50;
const RETRY: Duration = Duration::from_millis(10);

impl Pins {
    /// The pins of this network namespace below `root`, a folder of a BPF file system that need not exist; no
    /// other agent has them at the same time.
    ///
    /// # Errors
    /// There is no BPF file system, this user may not write there, or another agent has the pins, which is
    /// [`ErrorKind::ResourceBusy`].
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        let folder = folder(root)?;
        if !bpf::is_bpf_fs(existing(&folder))? {
            return Err(io::Error::new(ErrorKind::Unsupported, "no BPF file system"));
        }
        let lock = keep_trying(|| {
            fs::create_dir_all(&folder)?;
            lock(&folder)
        })?;
        release_gone(root, &folder);
        Ok(Self { folder, _lock: lock })
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

    /// The addresses whose INT is removed by sinks that an earlier agent left, each with the longest lease,
    /// milliseconds.
    pub(crate) fn granted(&self) -> Vec<(IpAddr, u32)> {
        if let Ok(granted) = granted_in(&self.folder.join(GRANTED)) {
            return granted;
        }
        // An earlier version pinned no table.
        let links = devices(&self.folder).unwrap_or_default().into_iter();
        let programs =
            links.filter_map(|device| bpf::program(bpf::pinned(&self.path(device)).ok()?.as_fd()).ok());
        programs.flat_map(granted_by).collect()
    }

    /// The prefixes whose INT sinks of an earlier agent remove without a lease.
    pub(crate) fn ended_always(&self) -> Vec<MappedPrefix> {
        // An earlier version pinned no table.
        ended_always_in(&self.folder.join(PEERS)).unwrap_or_default()
    }

    /// Pins the tables in place of an earlier agent's, so that the next agent finds them.
    pub(crate) fn keep_tables(&self, programs: &mut Programs) -> Result<(), HostError> {
        self.keep(GRANTED, programs.map("GRANTED")?)?;
        self.keep(PEERS, programs.map("PEERS")?)
    }

    fn keep(&self, name: &str, table: &Map) -> Result<(), HostError> {
        let path = self.folder.join(name);
        let fault = |reason| HostError::system(format!("pin {}", path.display()), reason);
        remove(&path).map_err(fault)?;
        table.pin(&path).map_err(|reason| fault(io::Error::other(reason)))
    }

    /// Pins `link`, so that it outlives the agent.
    pub(crate) fn keep_sink(&self, device: u32, link: BorrowedFd<'_>) -> Result<(), HostError> {
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
        for device in found(devices(&self.folder)).map_err(fault)? {
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
        // It stays while a sink is in it.
        if clear(&self.folder).is_ok() {
            self.folder.parent().into_iter().for_each(remove_root);
        }
    }
}

/// Detaches every sink of this network namespace below `root`; returns how many there were.
///
/// # Errors
/// An error of the system, or an agent has the pins, which is [`ErrorKind::ResourceBusy`]; that there is
/// nothing is no error.
pub(crate) fn remove_all(root: &Path) -> io::Result<usize> {
    let folder = folder(root)?;
    release_gone(root, &folder);
    if !folder.exists() {
        remove_root(root);
        return Ok(0);
    }
    let _lock = keep_trying(|| lock(&folder))?;
    let devices = found(devices(&folder))?;
    for device in &devices {
        release(&folder.join(format!("{SINK}{device}")))?;
    }
    clear(&folder)?;
    remove_root(root);
    Ok(devices.len())
}

/// Removes pins of network namespaces that are gone with their devices, from where no agent can remove them.
fn release_gone(root: &Path, own: &Path) {
    let Ok(folders) = fs::read_dir(root) else { return };
    let is_namespace =
        |path: &Path| path.file_name().is_some_and(|name| name.as_bytes().starts_with(NAMESPACE.as_bytes()));
    for folder in folders.flatten().map(|entry| entry.path()).filter(|path| path != own && is_namespace(path))
    {
        let sinks = devices(&folder).unwrap_or_default();
        let pins: Vec<PathBuf> = sinks.iter().map(|device| folder.join(format!("{SINK}{device}"))).collect();
        let is_gone = |path: &PathBuf| {
            bpf::pinned(path).is_ok_and(|link| matches!(bpf::interface(link.as_fd()), Ok(None)))
        };
        // An agent there may be about to pin its first sink.
        if pins.is_empty() || !pins.iter().all(is_gone) {
            continue;
        }
        // An agent that runs there may have lost its devices, and wait for others.
        let Ok(_lock) = lock(&folder) else { continue };
        // Another agent may have done the same.
        let _ = pins.iter().try_for_each(remove).and_then(|()| clear(&folder));
    }
}

/// Locks a folder of pins until the file is closed: an agent does so as long as it runs.
fn lock(folder: &Path) -> io::Result<File> {
    let file = File::open(folder)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(ErrorKind::ResourceBusy.into()),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // Another process may have removed it, or replaced it by one of the same name.
    let is_it = fs::metadata(folder)?.ino() == file.metadata()?.ino();
    if is_it { Ok(file) } else { Err(ErrorKind::NotFound.into()) }
}

/// Locks a folder by `lock`, several times where another process has it for a moment, or has just removed it.
fn keep_trying(lock: impl Fn() -> io::Result<File>) -> io::Result<File> {
    for _ in 1..MAX_TRIES {
        match lock() {
            Err(error) if matches!(error.kind(), ErrorKind::ResourceBusy | ErrorKind::NotFound) => {
                thread::sleep(RETRY);
            }
            locked => return locked,
        }
    }
    lock()
}

/// The devices in a folder, none if there is no folder.
fn found(devices: io::Result<Vec<u32>>) -> io::Result<Vec<u32>> {
    match devices {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        devices => devices,
    }
}

/// Removes a folder without sinks, and the tables in it.
fn clear(folder: &Path) -> io::Result<()> {
    if !devices(folder)?.is_empty() {
        return Err(ErrorKind::DirectoryNotEmpty.into());
    }
    [GRANTED, PEERS].iter().try_for_each(|name| remove(folder.join(name)))?;
    fs::remove_dir(folder)
}

/// Removes the folder of all pins, unless another network namespace has some, or it is a mount point.
fn remove_root(root: &Path) {
    if bpf::is_bpf_fs(root).unwrap_or_default() {
        let _ = fs::remove_dir(root);
    }
}

/// Removes a pin; a missing one is no error.
fn remove(path: impl AsRef<Path>) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The folder of this network namespace, named by its inode.
fn folder(root: &Path) -> io::Result<PathBuf> {
    let namespace = fs::metadata("/proc/thread-self/ns/net")?.ino();
    Ok(root.join(format!("{NAMESPACE}{namespace}")))
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
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
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
