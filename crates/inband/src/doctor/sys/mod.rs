//! System calls without a safe wrapper. Every `unsafe` block of the program is in this module.
#![allow(unsafe_code, reason = "system calls without a safe wrapper")]

pub(crate) mod clock;
pub(crate) mod features;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::thread;

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Runs `work` on a thread in a new network namespace, which is removed once nothing is left in it.
///
/// # Errors
/// The kernel's error when no namespace can be created.
pub(crate) fn in_new_network_namespace<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            // SAFETY: only the network namespace of this thread changes: it affects sockets opened from here
            // on; descriptors, memory and the rest of the process are unaffected.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            Ok(work())
        });
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Lets the kernel deliver several datagrams of one sender in one read (`UDP_GRO`).
///
/// # Errors
/// The kernel's error.
pub(crate) fn take_several_datagrams(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = libc::socklen_t::try_from(size_of_val(&on)).unwrap_or_default();
    // SAFETY: the kernel reads `length` bytes at the pointer, the size of `on`.
    let result = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_UDP, libc::UDP_GRO, (&raw const on).cast(), length)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
