//! Network namespaces, with names as in `ip netns`.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of names, as in `ip netns`.
pub const FOLDER: &str = "/run/netns";

/// A network namespace; it lives at least as long as this value.
#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// Creates a namespace with a name; it exists until [`delete`] and until its last process has ended.
    ///
    /// # Errors
    /// A name that is in use, or invalid; an error of the kernel.
    pub fn create(name: &str) -> io::Result<Self> {
        let path = path(name)?;
        prepare_folder()?;
        OpenOptions::new().write(true).create_new(true).mode(0o0).open(&path)?;
        // A separate thread, so that this one stays in its namespace.
        let made = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                // SAFETY: the call takes an integer; what it changes ends with this thread.
                check(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
                mount(Some(Path::new("/proc/thread-self/ns/net")), &path, libc::MS_BIND)
            });
            thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread of a namespace has ended")))
        });
        match made.and_then(|()| Self::open(name)) {
            Ok(namespace) => Ok(namespace),
            Err(error) => {
                // Nothing is mounted there, so it is only a file.
                let _ = fs::remove_file(&path);
                Err(error)
            }
        }
    }

    /// The namespace with this name.
    ///
    /// # Errors
    /// There is none.
    pub fn open(name: &str) -> io::Result<Self> {
        File::open(path(name)?).map(Self)
    }

    /// The namespace of this thread.
    ///
    /// # Errors
    /// There is no `/proc`.
    pub fn current() -> io::Result<Self> {
        File::open("/proc/thread-self/ns/net").map(Self)
    }

    /// Moves this thread into the namespace; sockets it opened before stay in theirs.
    ///
    /// # Errors
    /// An error of the kernel, for example that this user may not.
    pub fn enter(&self) -> io::Result<()> {
        enter(self.as_raw_fd())
    }

    /// Runs `work` in the namespace, on a temporary thread.
    ///
    /// # Errors
    /// The namespace cannot be entered.
    ///
    /// # Panics
    /// If `work` panics.
    pub fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                self.enter()?;
                Ok(work())
            });
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// A command that runs in the namespace, with the files of the machine.
    ///
    /// # Errors
    /// The process has no free descriptor.
    pub fn command(&self, program: &str) -> io::Result<Command> {
        let namespace = self.0.try_clone()?;
        let mut command = Command::new(program);
        // SAFETY: `setns` may be called between fork and exec, and nothing else is; the descriptor is the closure's.
        unsafe { command.pre_exec(move || enter(namespace.as_raw_fd())) };
        Ok(command)
    }
}

impl AsRawFd for Namespace {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// The existing names, sorted.
///
/// # Errors
/// The folder of names cannot be read.
pub fn names() -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(FOLDER) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

/// Removes the name of a namespace, which ends with its last process; a missing name is no error.
///
/// # Errors
/// An error of the kernel.
pub fn delete(name: &str) -> io::Result<()> {
    let path = path(name)?;
    let text = c_path(&path)?;
    // SAFETY: the path ends in a zero and lives through the call.
    match check(unsafe { libc::umount2(text.as_ptr(), libc::MNT_DETACH) }) {
        // A name whose namespace was never mounted, or a missing name.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOENT)) => {}
        done => done?,
    }
    match fs::remove_file(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn path(name: &str) -> io::Result<PathBuf> {
    let is_name = !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0']);
    if is_name { Ok(Path::new(FOLDER).join(name)) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Creates the folder of names, and makes its mounts visible in every mount namespace, as `ip netns` does: a
/// name that is deleted in one of them has to be gone in all.
fn prepare_folder() -> io::Result<()> {
    let folder = Path::new(FOLDER);
    fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    let share = || mount(None, folder, libc::MS_SHARED | libc::MS_REC);
    match share() {
        // It is not a mount point yet.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            mount(Some(folder), folder, libc::MS_BIND | libc::MS_REC)?;
            share()
        }
        done => done,
    }
}

fn mount(source: Option<&Path>, target: &Path, flags: libc::c_ulong) -> io::Result<()> {
    let source = c_path(source.unwrap_or(Path::new("none")))?;
    let target = c_path(target)?;
    let kind = c"none";
    // SAFETY: the three texts end in a zero and live through the call, which takes no data.
    check(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, std::ptr::null()) })
}

fn enter(namespace: RawFd) -> io::Result<()> {
    // SAFETY: the call takes two integers.
    check(unsafe { libc::setns(namespace, libc::CLONE_NEWNET) })
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
