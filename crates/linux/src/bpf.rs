//! Links of BPF programs beyond their creation: pinning, replacing and detaching.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::verification::uninterrupted;

/// Commands of `enum bpf_cmd`.
const OBJECT_PIN: libc::c_int = 6;
const OBJECT_GET: libc::c_int = 7;
const INFO_BY_FD: libc::c_int = 15;
const LINK_UPDATE: libc::c_int = 29;
const LINK_DETACH: libc::c_int = 34;
/// `BPF_LINK_TYPE_TCX` of `enum bpf_link_type`.
const TYPE_TCX: u32 = 11;
/// `BPF_FS_MAGIC`.
const BPF_FS: libc::__fsword_t = 0xcafe_4a11;

/// `struct { … } ` of `union bpf_attr` for pins.
#[repr(C)]
struct Object {
    path: u64,
    fd: u32,
    flags: u32,
}

/// The same for `BPF_LINK_UPDATE`, and in its first word for `BPF_LINK_DETACH`.
#[repr(C)]
struct Update {
    link: u32,
    program: u32,
    flags: u32,
    old_program: u32,
}

/// The same for `BPF_OBJ_GET_INFO_BY_FD`.
#[repr(C)]
struct Query {
    fd: u32,
    length: u32,
    info: u64,
}

/// `struct bpf_link_info` of a tcx link.
#[repr(C)]
#[derive(Default)]
struct LinkInfo {
    kind: u32,
    id: u32,
    program: u32,
    padding: u32,
    interface: u32,
    attach_type: u32,
    rest: [u32; 10],
}

/// Whether `path` is in a BPF file system.
///
/// # Errors
/// The path does not exist.
pub fn is_bpf_fs(path: &Path) -> io::Result<bool> {
    let path = c_path(path)?;
    // SAFETY: all fields of `struct statfs` are integers, for which zeros are values.
    let mut about: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends in a zero, and the pointer is to a live `struct statfs`, which the call only fills.
    let result = unsafe { libc::statfs(path.as_ptr(), &raw mut about) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(about.f_type == BPF_FS) }
}

/// Keeps `link` attached, even when all descriptors are closed, until the file `path` is removed.
///
/// # Errors
/// An error of the kernel, for example that the file already exists.
pub fn pin(link: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let path = c_path(path)?;
    let attributes = Object { path: path.as_ptr() as u64, fd: number(link)?, flags: 0 };
    // SAFETY: the path ends in a zero and lives through the call, which only reads.
    unsafe { call(OBJECT_PIN, &attributes) }.map(drop)
}

/// The object pinned at `path`.
///
/// # Errors
/// An error of the kernel, for example that there is none.
pub fn pinned(path: &Path) -> io::Result<OwnedFd> {
    let path = c_path(path)?;
    let attributes = Object { path: path.as_ptr() as u64, fd: 0, flags: 0 };
    // SAFETY: the path ends in a zero and lives through the call, which only reads.
    let fd = unsafe { call(OBJECT_GET, &attributes) }?;
    // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Replaces the program of the link by `program` from the next packet on.
///
/// # Errors
/// An error of the kernel, for example that the device is gone.
pub fn replace(link: BorrowedFd<'_>, program: BorrowedFd<'_>) -> io::Result<()> {
    let attributes = Update { link: number(link)?, program: number(program)?, flags: 0, old_program: 0 };
    // SAFETY: the attributes have no pointers.
    unsafe { call(LINK_UPDATE, &attributes) }.map(drop)
}

/// Detaches the program of `link`, even if other descriptors of the link are open.
///
/// # Errors
/// An error of the kernel.
pub fn detach(link: BorrowedFd<'_>) -> io::Result<()> {
    let attributes = Update { link: number(link)?, program: 0, flags: 0, old_program: 0 };
    // SAFETY: the attributes have no pointers, and the kernel asks for zeros behind the first word.
    unsafe { call(LINK_DETACH, &attributes) }.map(drop)
}

/// A link whose program is detached when this value is dropped.
///
/// Closing the descriptor is not enough: a process between `fork` and `exec`, which another thread starts at
/// this moment, has a copy.
#[derive(Debug)]
pub struct Attached(OwnedFd);

impl From<OwnedFd> for Attached {
    fn from(link: OwnedFd) -> Self {
        Self(link)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // The device may be gone; then nothing is attached.
        let _ = detach(self.0.as_fd());
    }
}

/// The interface index that a tcx link is attached to; `None`: another link, or its device is gone.
///
/// # Errors
/// An error of the kernel.
pub fn interface(link: BorrowedFd<'_>) -> io::Result<Option<u32>> {
    let info = info(link)?;
    Ok(Some(info.interface).filter(|index| info.kind == TYPE_TCX && *index != 0))
}

/// The id of the program that `link` runs.
///
/// # Errors
/// An error of the kernel.
pub fn program(link: BorrowedFd<'_>) -> io::Result<u32> {
    Ok(info(link)?.program)
}

fn info(link: BorrowedFd<'_>) -> io::Result<LinkInfo> {
    let mut info = LinkInfo::default();
    let length = u32::try_from(size_of::<LinkInfo>()).unwrap_or_default();
    let attributes = Query { fd: number(link)?, length, info: (&raw mut info) as u64 };
    // SAFETY: the pointer is to a live structure of integers of the length given, which the kernel fills.
    unsafe { call(INFO_BY_FD, &attributes) }?;
    Ok(info)
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn number(fd: BorrowedFd<'_>) -> io::Result<u32> {
    u32::try_from(fd.as_raw_fd()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Makes the system call.
///
/// # Safety
/// The memory that `attributes` point to lives through the call and is what the command reads and writes.
unsafe fn call<T>(command: libc::c_int, attributes: &T) -> io::Result<RawFd> {
    // SAFETY: the pointer is to a live structure of the size given; the rest is the caller's promise.
    let result =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>()) };
    match RawFd::try_from(result) {
        Ok(value) if value >= 0 => Ok(value),
        _ => Err(io::Error::last_os_error()),
    }
}

/// `BPF_MAP_CREATE`, `BPF_MAP_UPDATE_ELEM`, `BPF_MAP_DELETE_ELEM`, `BPF_PROG_LOAD`.
const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE: libc::c_int = 2;
const MAP_DELETE: libc::c_int = 3;
const PROGRAM_LOAD: libc::c_int = 5;
/// `BPF_MAP_TYPE_HASH`, `BPF_MAP_TYPE_XSKMAP`, `BPF_PROG_TYPE_SCHED_CLS` and `BPF_PROG_TYPE_XDP`.
const TYPE_HASH: u32 = 1;
const TYPE_SOCKETS: u32 = 17;
const TYPE_CLASSIFIER: u32 = 3;
const TYPE_XDP: u32 = 6;
/// `BPF_F_XDP_DEV_BOUND_ONLY`.
const BOUND_TO_DEVICE: u32 = 1 << 6;

/// `struct { … }` of `union bpf_attr` for the creation of maps.
#[repr(C)]
struct NewMap {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    max_entries: u32,
    flags: u32,
}

/// The same for an entry of a map.
#[repr(C)]
struct Entry {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// The same for programs, as far as it is used here.
#[repr(C)]
struct NewProgram {
    kind: u32,
    instructions: u32,
    instructions_at: u64,
    license: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    device: u32,
    attach_type: u32,
}

/// A set of keys in the kernel, for lookups by programs.
#[derive(Debug)]
pub struct KeySet<const BYTES: usize>(OwnedFd);

impl<const BYTES: usize> KeySet<BYTES> {
    /// Creates a set of at most `max_entries` keys.
    ///
    /// # Errors
    /// An error of the kernel, for example that this user may not.
    pub fn new(max_entries: u32) -> io::Result<Self> {
        let key_bytes = u32::try_from(BYTES).map_err(|_| io::ErrorKind::InvalidInput)?;
        let attributes = NewMap { kind: TYPE_HASH, key_bytes, value_bytes: 1, max_entries, flags: 0 };
        // SAFETY: the attributes have no pointers.
        let fd = unsafe { call(MAP_CREATE, &attributes) }?;
        // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Adds a key.
    ///
    /// # Errors
    /// An error of the kernel, for example that the set is full.
    pub fn insert(&self, key: &[u8; BYTES]) -> io::Result<()> {
        self.change(MAP_UPDATE, key)
    }

    /// Removes a key; a missing one is no error.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn remove(&self, key: &[u8; BYTES]) -> io::Result<()> {
        match self.change(MAP_DELETE, key) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    fn change(&self, command: libc::c_int, key: &[u8; BYTES]) -> io::Result<()> {
        let value = 1_u8;
        let attributes = Entry {
            map: number(std::os::fd::AsFd::as_fd(&self.0))?,
            padding: 0,
            key: key.as_ptr() as u64,
            value: if command == MAP_UPDATE { (&raw const value) as u64 } else { 0 },
            flags: 0,
        };
        // SAFETY: key and value live through the call and have the sizes the map was created with.
        unsafe { call(command, &attributes) }.map(drop)
    }

    /// The number that instructions use for the set.
    ///
    /// # Errors
    /// An invalid descriptor.
    pub fn number(&self) -> io::Result<u32> {
        number(std::os::fd::AsFd::as_fd(&self.0))
    }
}

/// The sockets of a device's receive queues, by queue, to which XDP programs pass frames.
#[derive(Debug)]
pub struct SocketMap(OwnedFd);

impl SocketMap {
    /// Creates a map for this many queues.
    ///
    /// # Errors
    /// An error of the kernel, for example that this user may not.
    pub fn new(queues: u32) -> io::Result<Self> {
        let attributes =
            NewMap { kind: TYPE_SOCKETS, key_bytes: 4, value_bytes: 4, max_entries: queues, flags: 0 };
        // SAFETY: the attributes have no pointers.
        let fd = unsafe { call(MAP_CREATE, &attributes) }?;
        // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Passes the frames of a queue to `socket` until it is closed.
    ///
    /// # Errors
    /// An error of the kernel, for example that the socket is bound to something else.
    pub fn set(&self, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        let value = number(socket)?;
        let attributes = Entry {
            map: self.number()?,
            padding: 0,
            key: (&raw const queue) as u64,
            value: (&raw const value) as u64,
            flags: 0,
        };
        // SAFETY: key and value live through the call and have the sizes the map was created with.
        unsafe { call(MAP_UPDATE, &attributes) }.map(drop)
    }

    /// The number that instructions use for the map.
    ///
    /// # Errors
    /// An invalid descriptor.
    pub fn number(&self) -> io::Result<u32> {
        number(std::os::fd::AsFd::as_fd(&self.0))
    }
}

/// Loads a classifier of these instructions, each a `struct bpf_insn`.
///
/// # Errors
/// An error of the kernel, for example that it does not accept them.
pub fn load_classifier(instructions: &[u64]) -> io::Result<OwnedFd> {
    load(instructions, TYPE_CLASSIFIER, None)
}

/// Loads an XDP program of these instructions. With a device it runs only there, and may query the driver
/// about frames.
///
/// # Errors
/// An error of the kernel, for example that it does not accept them.
pub fn load_xdp(instructions: &[u64], device: Option<u32>) -> io::Result<OwnedFd> {
    load(instructions, TYPE_XDP, device)
}

fn load(instructions: &[u64], kind: u32, device: Option<u32>) -> io::Result<OwnedFd> {
    let license = c"Dual MIT/GPL";
    let attributes = NewProgram {
        kind,
        instructions: u32::try_from(instructions.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
        instructions_at: instructions.as_ptr() as u64,
        license: license.as_ptr() as u64,
        log_level: 0,
        log_bytes: 0,
        log: 0,
        kernel_version: 0,
        flags: if device.is_some() { BOUND_TO_DEVICE } else { 0 },
        name: [0; 16],
        device: device.unwrap_or_default(),
        attach_type: if kind == TYPE_XDP { XDP } else { 0 },
    };
    // SAFETY: the length is the number of instructions; they live through the call, as does the license,
    // which ends in a zero.
    let fd = uninterrupted(|| unsafe { call(PROGRAM_LOAD, &attributes) })?;
    // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// `BPF_XDP` of `enum bpf_attach_type`.
pub(crate) const XDP: u32 = 37;
