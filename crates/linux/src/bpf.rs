//! Links of BPF programs beyond their creation: pinning, replacing and detaching.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

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

/// The same of `BPF_LINK_UPDATE`, and as far as its first word goes of `BPF_LINK_DETACH`.
#[repr(C)]
struct Update {
    link: u32,
    program: u32,
    flags: u32,
    old_program: u32,
}

/// The same of `BPF_OBJ_GET_INFO_BY_FD`.
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
/// A path that is not there.
pub fn is_bpf_fs(path: &Path) -> io::Result<bool> {
    let path = c_path(path)?;
    // SAFETY: all fields of `struct statfs` are integers, for which zeros are values.
    let mut about: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends in a zero, and the pointer is to a live `struct statfs`, which the call only fills.
    let result = unsafe { libc::statfs(path.as_ptr(), &raw mut about) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(about.f_type == BPF_FS) }
}

/// Keeps `link` attached, whoever closes it, until the file `path` is removed.
///
/// # Errors
/// What the kernel says, such as that the file is there.
pub fn pin(link: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let path = c_path(path)?;
    let attributes = Object { path: path.as_ptr() as u64, fd: number(link)?, flags: 0 };
    // SAFETY: the path ends in a zero and lives through the call, which only reads.
    unsafe { call(OBJECT_PIN, &attributes) }.map(drop)
}

/// The object that is pinned at `path`.
///
/// # Errors
/// What the kernel says, such as that there is none.
pub fn pinned(path: &Path) -> io::Result<OwnedFd> {
    let path = c_path(path)?;
    let attributes = Object { path: path.as_ptr() as u64, fd: 0, flags: 0 };
    // SAFETY: the path ends in a zero and lives through the call, which only reads.
    let fd = unsafe { call(OBJECT_GET, &attributes) }?;
    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Runs `program` in the place of the link's own from the next packet on.
///
/// # Errors
/// What the kernel says, such as that the device is gone.
pub fn replace(link: BorrowedFd<'_>, program: BorrowedFd<'_>) -> io::Result<()> {
    let attributes = Update { link: number(link)?, program: number(program)?, flags: 0, old_program: 0 };
    // SAFETY: the attributes have no pointers.
    unsafe { call(LINK_UPDATE, &attributes) }.map(drop)
}

/// Detaches the program of `link`, whoever holds the link.
///
/// # Errors
/// What the kernel says.
pub fn detach(link: BorrowedFd<'_>) -> io::Result<()> {
    let attributes = Update { link: number(link)?, program: 0, flags: 0, old_program: 0 };
    // SAFETY: the attributes have no pointers, and the kernel asks for zeros behind the first word.
    unsafe { call(LINK_DETACH, &attributes) }.map(drop)
}

/// The interface index that a tcx link is attached to; `None`: another link, or its device is gone.
///
/// # Errors
/// What the kernel says.
pub fn interface(link: BorrowedFd<'_>) -> io::Result<Option<u32>> {
    let info = info(link)?;
    Ok(Some(info.interface).filter(|index| info.kind == TYPE_TCX && *index != 0))
}

/// The id of the program that `link` runs.
///
/// # Errors
/// What the kernel says.
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
/// What `attributes` point to lives through the call and is what the command reads and writes.
unsafe fn call<T>(command: libc::c_int, attributes: &T) -> io::Result<RawFd> {
    // SAFETY: the pointer is to a live structure of the size given; the rest is the caller's promise.
    let result =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>()) };
    match RawFd::try_from(result) {
        Ok(value) if value >= 0 => Ok(value),
        _ => Err(io::Error::last_os_error()),
    }
}
