//! Announcements of changes to the network configuration.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, bind, recv, socket_with};

use super::message::answers;

/// A group of announcements, as bits of `struct sockaddr_nl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Group {
    /// Devices, `RTMGRP_LINK`.
    Link = 0x1,
    /// Neighbours, `RTMGRP_NEIGH`.
    Neighbour = 0x4,
    /// Addresses of IPv4, `RTMGRP_IPV4_IFADDR`.
    Ipv4Address = 0x10,
    /// Routes of IPv4, `RTMGRP_IPV4_ROUTE`.
    Ipv4Route = 0x40,
    /// Addresses of IPv6, `RTMGRP_IPV6_IFADDR`.
    Ipv6Address = 0x100,
    /// Routes of IPv6, `RTMGRP_IPV6_ROUTE`.
    Ipv6Route = 0x400,
}

impl Group {
    /// Every group.
    pub const ALL: [Self; 6] =
        [Self::Link, Self::Neighbour, Self::Ipv4Address, Self::Ipv4Route, Self::Ipv6Address, Self::Ipv6Route];
}

/// The result of [`Monitor::poll`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Heard {
    /// Every announcement so far was passed on.
    All,
    /// The socket's buffer overflowed: the configuration has to be read again.
    Overrun,
}

/// A socket that receives announcements, of the network namespace it was made in; it never blocks.
#[derive(Debug)]
pub struct Monitor {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

const BUFFER_BYTES: usize = 1 << 16;
/// Buffer size for announcements not read yet, bytes.
const SOCKET_BYTES: usize = 4 << 20;
/// Maximum number of datagrams in one call of [`Monitor::poll`].
const MAX_DATAGRAMS: usize = 1_000;

impl Monitor {
    /// Starts to receive the announcements of `groups`.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn open(groups: &[Group]) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
        // Without the privilege the default size is used.
        let _ = set_socket_recv_buffer_size_force(&socket, SOCKET_BYTES);
        let bits = groups.iter().fold(0, |bits, group| bits | *group as u32);
        bind(&socket, &SocketAddrNetlink::new(0, bits))?;
        Ok(Self { socket, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Passes the announcements since the last call, type and body of each message, to `take`.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn poll(&mut self, mut take: impl FnMut(u16, &[u8])) -> io::Result<Heard> {
        for _ in 0..MAX_DATAGRAMS {
            match recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::empty()) {
                Ok((received, _)) => {
                    let datagram = self.buffer.get(..received).unwrap_or_default();
                    for answer in answers(datagram) {
                        take(answer.kind, answer.body);
                    }
                }
                Err(Errno::AGAIN) => return Ok(Heard::All),
                Err(Errno::INTR) => {}
                Err(Errno::NOBUFS) => return Ok(Heard::Overrun),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Heard::All)
    }
}

impl AsFd for Monitor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
