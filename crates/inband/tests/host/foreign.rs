//! Programs and filters of others on a device: each drops datagrams to some ports.
#![allow(unsafe_code, reason = "nobody else has a wrapper for these system calls")]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::world::{Place, World};

/// A side of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Side {
    /// `BPF_TCX_INGRESS`.
    Ingress = 46,
    /// `BPF_TCX_EGRESS`.
    Egress = 47,
}

/// The position among attached programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Order {
    /// `BPF_F_BEFORE`.
    Before = 1 << 3,
    /// `BPF_F_AFTER`.
    After = 1 << 4,
}

/// The offset of the destination port in IPv4 over Ethernet without options.
const PORT_AT: u32 = 14 + 20 + 2;
/// The offset of the type in an Ethernet frame.
const TYPE_AT: u32 = 12;
const IPV4: u32 = 0x0800;
/// The bits of a port that are compared; bit 15 excludes ephemeral ports, which start at 32768.
const PORT_BITS: u32 = 0x8fff;
/// Ports with these lower bits are denied.
pub(crate) const DENIED: u16 = 0x001;

/// Attaches a program that drops packets to a denied port and passes the rest on, until the link is closed.
pub(crate) fn attach_tcx(world: &World, place: Place, device: &str, side: Side, order: Order) -> OwnedFd {
    attach(world, place, device, side, order, NEXT)
}

/// Like [`attach_tcx`], but it ends the chain with what it passes: programs behind it see nothing.
pub(crate) fn attach_end_of_chain(world: &World, place: Place, device: &str, side: Side) -> OwnedFd {
    attach(world, place, device, side, Order::Before, PASS)
}

fn attach(world: &World, place: Place, device: &str, side: Side, order: Order, verdict: u32) -> OwnedFd {
    let program = load(verdict);
    let name = CString::new(device).unwrap();
    world.inside(place, move || {
        // SAFETY: the name ends in a zero.
        let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
        let program = u32::try_from(program.as_raw_fd()).unwrap();
        let attributes = [program, index, side as u32, order as u32, 0, 0, 0, 0];
        bpf(LINK_CREATE, &attributes)
    })
}

/// Attaches the same program as a direct-action filter of `tc`.
pub(crate) fn attach_cls_bpf(world: &World, place: Place, device: &str, side: Side) {
    let side = if side == Side::Ingress { "ingress" } else { "egress" };
    let code =
        format!("5,40 0 0 {PORT_AT},84 0 0 {PORT_BITS},21 0 1 {DENIED},6 0 0 {SHOT},6 0 0 {},", u32::MAX);
    let filter = format!("filter add dev {device} {side} protocol ip pref 10 bpf da bytecode");
    let words: Vec<_> = filter.split(' ').chain([code.as_str()]).collect();
    let output = world.command(place, "tc").args(words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// `TC_ACT_SHOT`, `TCX_NEXT` and `TCX_PASS`.
const SHOT: u32 = 2;
const NEXT: u32 = u32::MAX;
const PASS: u32 = 0;
/// `BPF_PROG_LOAD` and `BPF_LINK_CREATE` of `enum bpf_cmd`.
const PROG_LOAD: libc::c_int = 5;
const LINK_CREATE: libc::c_int = 28;
const SCHED_CLS: u32 = 3;

fn load(verdict: u32) -> OwnedFd {
    let instruction = |code: u8, registers: u8, offset: i16, immediate: u32| {
        let [low, high] = offset.to_le_bytes();
        let [a, b, c, d] = immediate.to_le_bytes();
        [code, registers, low, high, a, b, c, d]
    };
    let code: Vec<u8> = [
        instruction(0xbf, 0x16, 0, 0),
        // Packets other than IPv4 have something else at that offset.
        instruction(0x28, 0, 0, TYPE_AT),
        instruction(0x55, 0, 5, IPV4),
        // r0 = the port; for a shorter packet the program ends here, and with it the chain.
        instruction(0x28, 0, 0, PORT_AT),
        instruction(0x57, 0, 0, PORT_BITS),
        instruction(0x55, 0, 2, DENIED.into()),
        instruction(0xb7, 0, 0, SHOT),
        instruction(0x95, 0, 0, 0),
        instruction(0xb7, 0, 0, verdict),
        instruction(0x95, 0, 0, 0),
    ]
    .concat();
    let license = c"GPL";
    let [code_low, code_high] = halves(code.as_ptr() as u64);
    let [license_low, license_high] = halves(license.as_ptr() as u64);
    let count = u32::try_from(code.len() / 8).unwrap();
    let attributes = [SCHED_CLS, count, code_low, code_high, license_low, license_high, 0, 0];
    bpf(PROG_LOAD, &attributes)
}

fn halves(number: u64) -> [u32; 2] {
    [(number & 0xffff_ffff) as u32, (number >> 32) as u32]
}

fn bpf(command: libc::c_int, attributes: &[u32; 8]) -> OwnedFd {
    let size = size_of_val(attributes);
    // SAFETY: the attributes and what they point to outlive the call, and have the layout that the command
    // reads.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, attributes.as_ptr(), size) };
    let fd = i32::try_from(result).unwrap();
    assert!(fd >= 0, "{command}: {}", io::Error::last_os_error());
    // SAFETY: the kernel has just created it for this process.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Sets the priority of a socket's packets, `SO_PRIORITY`.
pub(crate) fn set_priority(socket: &impl AsRawFd, priority: u32) {
    set_option(socket, libc::SOL_SOCKET, libc::SO_PRIORITY, priority);
}

/// Enables timestamps when a socket's packets leave a device, `SO_TIMESTAMPING`.
pub(crate) fn ask_for_timestamps(socket: &impl AsRawFd) {
    let flags = libc::SOF_TIMESTAMPING_TX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags);
}

/// Makes a socket receive datagrams as the device has merged them, `UDP_GRO`.
pub(crate) fn take_merged(socket: &impl AsRawFd) {
    set_option(socket, libc::SOL_UDP, libc::UDP_GRO, 1);
}

/// Makes a socket send datagrams of `bytes` bytes, several in one call, `UDP_SEGMENT`.
pub(crate) fn send_merged(socket: &impl AsRawFd, bytes: u32) {
    set_option(socket, libc::SOL_UDP, libc::UDP_SEGMENT, bytes);
}

fn set_option(socket: &impl AsRawFd, level: libc::c_int, name: libc::c_int, value: u32) {
    let size = libc::socklen_t::try_from(size_of_val(&value)).unwrap();
    let pointer = (&raw const value).cast();
    // SAFETY: the pointer is to a live integer of the size given.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, pointer, size) };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
}

/// Empties a socket's error queue; returns the number of messages that were in it.
pub(crate) fn take_errors(socket: &impl AsRawFd) -> usize {
    let mut payload = [0_u8; 2048];
    let mut control = [0_u8; 512];
    (0..1_000)
        .take_while(|_| {
            let mut part = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: payload.len() };
            // SAFETY: all fields are integers or pointers, for which zeros are values.
            let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
            (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
            (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), control.len());
            let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
            // SAFETY: the message and what it points to outlive the call, with the lengths given.
            let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
            received >= 0
        })
        .count()
}

/// The maximum segment size of a connection, `TCP_MAXSEG`.
pub(crate) fn max_segment(socket: &impl AsRawFd) -> u32 {
    let mut value: u32 = 0;
    let mut size = libc::socklen_t::try_from(size_of_val(&value)).unwrap();
    let pointer = (&raw mut value).cast();
    // SAFETY: both pointers are to live variables, the first of the size in the second.
    let result = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_MAXSEG, pointer, &raw mut size)
    };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
    value
}
