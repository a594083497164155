//! Programs on a device, detached when their descriptor is closed.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The side of a device on which a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Direction {
    /// Incoming packets, `BPF_TCX_INGRESS`.
    Ingress = 46,
    /// Outgoing packets, `BPF_TCX_EGRESS`.
    Egress = 47,
}

/// `BPF_LINK_CREATE` of `enum bpf_cmd`.
const LINK_CREATE: libc::c_int = 28;

/// `struct { … } link_create` of `union bpf_attr`, as far as tcx needs it.
#[repr(C)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
    relative: u32,
    padding: u32,
    expected_revision: u64,
}

/// `BPF_PROG_QUERY` of `enum bpf_cmd`.
const PROGRAM_QUERY: libc::c_int = 16;

/// `struct { … } query` of `union bpf_attr`.
#[repr(C)]
#[derive(Default)]
struct Query {
    interface: u32,
    attach_type: u32,
    query_flags: u32,
    attach_flags: u32,
    programs: u64,
    count: u32,
    padding: u32,
    program_flags: u64,
    links: u64,
    link_flags: u64,
    revision: u64,
}

/// The position of a program among those already on the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Order {
    /// Before them, `BPF_F_BEFORE`.
    First = 1 << 3,
    /// After them.
    Last = 0,
}

/// Attaches `program` to the interface until the link is closed.
///
/// # Errors
/// An error of the kernel.
pub fn attach(
    program: BorrowedFd<'_>,
    interface: u32,
    direction: Direction,
    order: Order,
) -> io::Result<OwnedFd> {
    create_link(program, interface, direction as u32, order as u32)
}

/// The number of programs on this side of the interface.
///
/// # Errors
/// An error of the kernel.
pub fn count(interface: u32, direction: Direction) -> io::Result<u32> {
    let mut attributes = Query { interface, attach_type: direction as u32, ..Query::default() };
    // SAFETY: the pointer is to a live structure of the size given, laid out as the kernel's for this
    // command, which fills it in; without a pointer to an array it writes no programs.
    let result =
        unsafe { libc::syscall(libc::SYS_bpf, PROGRAM_QUERY, &raw mut attributes, size_of::<Query>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(attributes.count) }
}

/// Attaches `program` to the interface, as `attach_type` of `enum bpf_attach_type`, until the link is closed.
pub(crate) fn create_link(
    program: BorrowedFd<'_>,
    interface: u32,
    attach_type: u32,
    flags: u32,
) -> io::Result<OwnedFd> {
    let program = u32::try_from(program.as_raw_fd()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let attributes =
        LinkCreate { program, interface, attach_type, flags, relative: 0, padding: 0, expected_revision: 0 };
    // SAFETY: the pointer is to a live structure of the size given, laid out as the kernel's for this command.
    let result =
        unsafe { libc::syscall(libc::SYS_bpf, LINK_CREATE, &raw const attributes, size_of::<LinkCreate>()) };
    match RawFd::try_from(result) {
        // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}
