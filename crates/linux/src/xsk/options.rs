//! Options of an AF_XDP socket.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

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
