//! AF_XDP sockets and their options.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

/// Whether the kernel copies frames between its memory and that of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moving {
    /// Only where the driver cannot use the program's memory.
    IfNeeded,
    /// Always: it works with every driver.
    Always,
}

/// The memory of frames that a socket is bound with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound<'a> {
    /// That registered with it.
    WithOwnMemory(Moving),
    /// That of a bound socket; so is how frames are moved.
    WithMemoryOf(BorrowedFd<'a>),
}

/// Opens a socket.
pub(super) fn open() -> io::Result<OwnedFd> {
    // SAFETY: the call takes three integers and returns a descriptor, or a negative number.
    let fd = check(unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Binds a socket to a queue of the device with this interface index.
pub(super) fn bind(socket: &OwnedFd, (device, queue): (u32, u32), bound: Bound<'_>) -> io::Result<()> {
    let (flags, shared) = match bound {
        Bound::WithOwnMemory(Moving::IfNeeded) => (libc::XDP_USE_NEED_WAKEUP, 0),
        Bound::WithOwnMemory(Moving::Always) => (libc::XDP_USE_NEED_WAKEUP | libc::XDP_COPY, 0),
        Bound::WithMemoryOf(first) => (libc::XDP_SHARED_UMEM, first.as_raw_fd()),
    };
    let address = libc::sockaddr_xdp {
        sxdp_family: u16::try_from(libc::AF_XDP).unwrap_or_default(),
        sxdp_flags: flags,
        sxdp_ifindex: device,
        sxdp_queue_id: queue,
        sxdp_shared_umem_fd: u32::try_from(shared).unwrap_or_default(),
    };
    let length = u32::try_from(size_of::<libc::sockaddr_xdp>()).unwrap_or_default();
    // SAFETY: the pointer is to a live address of the length given, which the call only reads.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(())
}

/// The places of a socket's rings.
pub(super) fn offsets(socket: &OwnedFd) -> io::Result<libc::xdp_mmap_offsets> {
    // SAFETY: all fields of the structure are integers, for which zeros are values.
    let mut offsets: libc::xdp_mmap_offsets = unsafe { zeroed() };
    get(socket, libc::XDP_MMAP_OFFSETS, &mut offsets)?;
    Ok(offsets)
}

pub(super) fn set<T>(socket: &OwnedFd, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
    let length = u32::try_from(size_of::<T>()).unwrap_or_default();
    let value = ptr::from_ref(value).cast();
    // SAFETY: the pointer is to a live value of the length given, which the call only reads.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value, length) })?;
    Ok(())
}

/// Reads an option of `SOL_XDP`; older kernels leave the end of it unchanged.
pub(super) fn get<T>(socket: &OwnedFd, option: libc::c_int, value: &mut T) -> io::Result<()> {
    let mut length = u32::try_from(size_of::<T>()).unwrap_or_default();
    let value = ptr::from_mut(value).cast();
    // SAFETY: both pointers are to live values, and the length is that of the structure, all of whose fields are
    // integers.
    check(unsafe { libc::getsockopt(socket.as_raw_fd(), libc::SOL_XDP, option, value, &raw mut length) })?;
    Ok(())
}

pub(super) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
