//! How are a device's offloads switched?

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// What a device may do itself instead of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Offload {
    /// Checksums of what is sent, `ETHTOOL_STXCSUM`.
    SendChecksum = 0x17,
    /// Segmentation of TCP, `ETHTOOL_STSO`.
    TcpSegmentation = 0x1f,
    /// Segmentation in general, `ETHTOOL_SGSO`.
    Segmentation = 0x24,
}

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// `struct ifreq`, as the ethtool request uses it.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    value: *mut Value,
    rest: [u8; 16],
}

/// Switches an offload of the device `name`, of the network namespace this thread is in, off.
///
/// # Errors
/// What the kernel says; a name that is too long.
pub(crate) fn switch_off(name: &str, offload: Offload) -> io::Result<()> {
    let mut value = Value { command: offload as u32, data: 0 };
    let mut request = Request { name: [0; libc::IFNAMSIZ], value: &raw mut value, rest: [0; 16] };
    let room = request.name.get_mut(..name.len()).filter(|_| name.len() < libc::IFNAMSIZ);
    room.ok_or(io::ErrorKind::InvalidInput)?.copy_from_slice(name.as_bytes());
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: `request` has the layout and at least the size of `struct ifreq`, its name ends in a zero, and its
    // pointer is to a live `struct ethtool_value`, which is all that these commands read and write.
    let result = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCETHTOOL, &raw mut request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
