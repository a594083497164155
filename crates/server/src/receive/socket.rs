//! Opening the sockets of one address.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

use crate::settings::ReceiveSettings;
use crate::sys;

/// The sockets of one address.
pub(super) struct Group {
    pub(super) sockets: Vec<UdpSocket>,
    pub(super) address: SocketAddr,
    /// Receive buffer of each socket, bytes.
    pub(super) buffer_bytes: usize,
}

/// Opens a socket for each worker.
pub(super) fn open_group(address: SocketAddr, settings: &ReceiveSettings) -> io::Result<Group> {
    let workers = u32::from(settings.workers.get());
    let first = open(address, settings)?;
    // For port 0, the kernel has chosen a port for the first socket.
    let address = first.local_addr()?.as_socket().unwrap_or(address);
    // The kernel reports twice the size, including its bookkeeping for each datagram.
    let buffer_bytes = first.recv_buffer_size()? / 2;
    let mut sockets = vec![UdpSocket::from(first)];
    for _ in 1..workers {
        sockets.push(open(address, settings)?.into());
    }
    if let Some(first) = sockets.first().filter(|_| workers > 1) {
        sys::steer(first.as_fd(), workers)?;
    }
    Ok(Group { sockets, address, buffer_bytes })
}

fn open(address: SocketAddr, settings: &ReceiveSettings) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        // Both families are received by listing both addresses, and each report shows the address it came
        // from.
        socket.set_only_v6(true)?;
    }
    if settings.workers.get() > 1 {
        socket.set_reuse_port(true)?;
    }
    // Without the privilege the kernel grants less; the size is checked afterwards.
    if sys::force_receive_buffer(socket.as_fd(), settings.socket_buffer_bytes).is_err() {
        socket.set_recv_buffer_size(usize::try_from(settings.socket_buffer_bytes).unwrap_or(usize::MAX))?;
    }
    // Kernels before 5.0 have no such offload, and deliver datagrams one by one.
    let _ = sys::offload_segments(socket.as_fd());
    if address.ip().is_unspecified() {
        // A node numbers its reports for each address it sends to.
        sys::name_destinations(socket.as_fd(), address.is_ipv6())?;
    }
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.bind(&address.into())?;
    Ok(socket)
}

/// Interval at which an idle worker checks whether to stop.
const PATIENCE: Duration = Duration::from_millis(20);
