//! Datagrams from one of a host's own addresses, by a socket that is bound to none.

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, sendmsg};

/// Sends `payload` to `to` from the address `from`, where this host has it and its routes allow it; otherwise
/// from the address that the kernel chooses.
///
/// # Errors
/// The kernel takes it from neither.
pub fn send(socket: &UdpSocket, payload: &[u8], to: SocketAddr, from: IpAddr) -> io::Result<()> {
    let address = SockaddrStorage::from(to);
    let send = |from: &[ControlMessage<'_>]| {
        let payload = [IoSlice::new(payload)];
        sendmsg(socket.as_raw_fd(), &payload, from, MsgFlags::empty(), Some(&address))
    };
    let sent = match from {
        IpAddr::V4(from) => {
            let from = libc::in_addr { s_addr: u32::from_ne_bytes(from.octets()) };
            let info = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: from, ipi_addr: from };
            send(&[ControlMessage::Ipv4PacketInfo(&info)])
        }
        IpAddr::V6(from) => {
            let from = libc::in6_addr { s6_addr: from.octets() };
            let info = libc::in6_pktinfo { ipi6_addr: from, ipi6_ifindex: 0 };
            send(&[ControlMessage::Ipv6PacketInfo(&info)])
        }
    };
    // The address of a container, for which its host answers, is not the host's own.
    sent.or_else(|_| send(&[])).map(drop).map_err(io::Error::from)
}

#[cfg(test)]
mod tests;
