//! Which system calls has nobody wrapped for us? Each block of `unsafe` of the program is here.
#![allow(unsafe_code, reason = "system calls without a safe wrapper")]

pub(crate) mod clock;
pub(crate) mod features;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::thread;

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Runs `work` on a thread in a network namespace of its own, which goes when nothing is left in it.
///
/// # Errors
/// What the kernel says where no namespace can be made.
pub(crate) fn in_new_network_namespace<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            // SAFETY: of a network namespace only sockets that this thread opens from here on know; descriptors,
            // memory and the rest of the process stay as they are.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            Ok(work())
        });
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Lets the kernel hand over several datagrams of one sender in one piece (`UDP_GRO`).
///
/// # Errors
/// What the kernel says.
pub(crate) fn take_several_datagrams(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = libc::socklen_t::try_from(size_of_val(&on)).unwrap_or_default();
    // SAFETY: the kernel reads `length` bytes at the pointer, which are those of `on`.
    let result = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_UDP, libc::UDP_GRO, (&raw const on).cast(), length)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
