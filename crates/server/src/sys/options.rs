//! Socket options, and the kernel's drop count of a socket.

use std::io;
use std::mem::size_of_val;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::from_ref;

/// Lets the kernel coalesce several datagrams of one sender into one piece (`UDP_GRO`).
pub(crate) fn offload_segments(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    set(socket, libc::SOL_UDP, libc::UDP_GRO, &on)
}

/// Lets each message name the address it was sent to (`IP_PKTINFO`, `IPV6_RECVPKTINFO`).
pub(crate) fn name_destinations(socket: BorrowedFd<'_>, is_ipv6: bool) -> io::Result<()> {
    let on: libc::c_int = 1;
    match is_ipv6 {
        true => set(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, &on),
        false => set(socket, libc::IPPROTO_IP, libc::IP_PKTINFO, &on),
    }
}

/// Sets the receive buffer of a socket, beyond `net.core.rmem_max` (`SO_RCVBUFFORCE`).
///
/// # Errors
/// The process has no `CAP_NET_ADMIN`.
pub(crate) fn force_receive_buffer(socket: BorrowedFd<'_>, bytes: u32) -> io::Result<()> {
    // The kernel doubles the value for its bookkeeping, and counts in `int`.
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX).min(libc::c_int::MAX / 2);
    set(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &bytes)
}

/// Sets an option of a socket to the bytes of `value`, whose type must be what the kernel reads for that
/// option.
pub(super) fn set<T: Copy>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of_val(value)).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: the kernel reads `length` bytes at the pointer, and that many belong to `value`, which lives through
    // the call.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, from_ref(value).cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Datagrams the kernel dropped at this socket because its buffer was full, or its checksum wrong; modulo 2^32.
pub(crate) fn dropped(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut counts = [0_u32; MEMINFO_WORDS];
    let mut length = libc::socklen_t::try_from(size_of_val(&counts)).unwrap_or_default();
    // SAFETY: the kernel writes at most `length` bytes at the pointer, and that many belong to `counts`; any bits
    // are valid numbers.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            counts.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let written = usize::try_from(length).unwrap_or_default() / size_of::<u32>();
    match counts.get(MEMINFO_DROPS) {
        Some(drops) if written > MEMINFO_DROPS => Ok(*drops),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Room for what kernels write into `SO_MEMINFO`: nine numbers, and some for later kernels.
const MEMINFO_WORDS: usize = 16;
/// `SK_MEMINFO_DROPS` of `linux/sock_diag.h`.
const MEMINFO_DROPS: usize = 8;

/// Sends `bytes` in one call as datagrams of `segment_bytes` each (`UDP_SEGMENT`).
#[cfg(test)]
pub(crate) fn send_in_segments(
    socket: &std::net::UdpSocket,
    bytes: &[u8],
    segment_bytes: u16,
) -> io::Result<usize> {
    use std::os::fd::AsFd;

    set(socket.as_fd(), libc::SOL_UDP, libc::UDP_SEGMENT, &libc::c_int::from(segment_bytes))?;
    socket.send(bytes)
}
