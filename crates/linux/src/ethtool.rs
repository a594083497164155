//! The offloads and properties of a device.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// An offload: work that a device may do instead of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Offload {
    /// Checksums of sent packets, `ETHTOOL_STXCSUM`.
    SendChecksum = 0x17,
    /// Segmentation of TCP, `ETHTOOL_STSO`.
    TcpSegmentation = 0x1f,
    /// Segmentation in general, `ETHTOOL_SGSO`.
    Segmentation = 0x24,
    /// Merging of received packets, `ETHTOOL_SGRO`.
    ReceiveJoining = 0x2c,
}

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// `struct ethtool_cmd`: the settings of a device.
#[repr(C)]
#[derive(Default)]
struct Settings {
    command: u32,
    supported: u32,
    advertising: u32,
    speed: u16,
    between: [u8; 6],
    coalescing: [u32; 2],
    speed_high: u16,
    behind: [u8; 2],
    rest: [u32; 3],
}

const _: () = assert!(size_of::<Settings>() == 44);
/// `ETHTOOL_GSET`.
const GET_SETTINGS: u32 = 0x1;

/// `struct ifreq`, as the ethtool request uses it.
#[repr(C)]
struct Request<T> {
    name: [u8; libc::IFNAMSIZ],
    value: *mut T,
    rest: [u8; 16],
}

/// Switches off an offload of the device `name` in the network namespace of this thread.
///
/// # Errors
/// An error of the kernel; a name that is too long.
pub fn switch_off(name: &str, offload: Offload) -> io::Result<()> {
    set(name, offload, false)
}

/// Switches an offload of the device `name` in the network namespace of this thread on or off.
///
/// # Errors
/// An error of the kernel; a name that is too long.
pub fn set(name: &str, offload: Offload, on: bool) -> io::Result<()> {
    ask(name, &mut Value { command: offload as u32, data: u32::from(on) })
}

/// Whether an offload of the device `name` is on.
///
/// # Errors
/// An error of the kernel; a name that is too long.
pub fn is_on(name: &str, offload: Offload) -> io::Result<bool> {
    // The request to read has the number before the one to set.
    let mut value = Value { command: offload as u32 - 1, data: 0 };
    ask(name, &mut value)?;
    Ok(value.data != 0)
}

/// Whether the device `name` removes VLAN tags from received frames.
///
/// # Errors
/// An error of the kernel; a name that is too long.
pub fn takes_vlan_tags_out(name: &str) -> io::Result<bool> {
    let mut value = Value { command: GET_FLAGS, data: 0 };
    ask(name, &mut value)?;
    Ok(value.data & RECEIVE_VLAN != 0)
}

/// The number of receive queues in use by the device `name`; `None`: unknown.
///
/// # Errors
/// An error of the kernel; a name that is too long.
pub fn receive_queues(name: &str) -> io::Result<Option<u32>> {
    let mut channels = Channels { command: GET_CHANNELS, ..Channels::default() };
    match ask(name, &mut channels) {
        Ok(()) => Ok(Some(channels.receive + channels.combined).filter(|count| *count > 0)),
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(None),
        Err(error) => Err(error),
    }
}

/// `struct ethtool_channels`: the maximum numbers, then the current ones.
#[repr(C)]
#[derive(Default)]
struct Channels {
    command: u32,
    most: [u32; 4],
    receive: u32,
    send: u32,
    other: u32,
    combined: u32,
}

/// `ETHTOOL_GCHANNELS`, `ETHTOOL_GFLAGS`, `ETH_FLAG_RXVLAN`.
const GET_CHANNELS: u32 = 0x3c;
const GET_FLAGS: u32 = 0x25;
const RECEIVE_VLAN: u32 = 1 << 8;

/// The speed of the link of the device `name`; `None`: unknown.
///
/// # Errors
/// An error of the kernel; a name that is too long.
pub fn megabits_per_second(name: &str) -> io::Result<Option<u32>> {
    let mut settings = Settings { command: GET_SETTINGS, ..Settings::default() };
    ask(name, &mut settings)?;
    let speed = u32::from(settings.speed_high) << 16 | u32::from(settings.speed);
    Ok(Some(speed).filter(|speed| !matches!(*speed, 0 | u32::MAX | UNKNOWN_OF_OLD)))
}

/// Returned by drivers that have only 16 bits for the speed, and no speed.
const UNKNOWN_OF_OLD: u32 = 0xffff;

/// Makes the kernel read and write `value`, which begins with a command and holds what the command works on.
fn ask<T>(name: &str, value: &mut T) -> io::Result<()> {
    let mut request = Request { name: [0; libc::IFNAMSIZ], value: std::ptr::from_mut(value), rest: [0; 16] };
    let room = request.name.get_mut(..name.len()).filter(|_| name.len() < libc::IFNAMSIZ);
    room.ok_or(io::ErrorKind::InvalidInput)?.copy_from_slice(name.as_bytes());
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: `request` has the layout and at least the size of `struct ifreq`, its name ends in a zero, and its
    // pointer is to a live structure of the command in its first word, which is all that the command reads and writes.
    let result = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCETHTOOL, &raw mut request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
