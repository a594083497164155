//! Datagrams by a connected socket, which reports that earlier ones were refused.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use rustix::net::sockopt::{set_ip_tos, set_ipv6_tclass};

/// Where datagrams go, and what their headers contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The destination.
    pub to: SocketAddr,
    /// The source address; `None`: the kernel chooses.
    pub from: Option<IpAddr>,
    /// The source port where it is free, otherwise any; 0: any.
    pub source_port: u16,
    /// The DSCP, 0 to 63.
    pub dscp: u8,
}

/// The number of datagrams by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Taken by the kernel, and not refused as far as is known.
    pub sent: u64,
    /// Not taken by the kernel, for example without a route.
    pub failed: u64,
    /// Refused by the host at the destination, as far as it reports it: its port is closed.
    pub refused: u64,
}

/// A sender of datagrams to one destination, which need not be reachable yet.
#[derive(Debug)]
pub struct Sender {
    route: Route,
    /// `None`: there is no route to the destination yet.
    socket: Option<UdpSocket>,
    /// When route and source address are next looked up, nanoseconds of the caller's clock.
    look_at: u64,
}

/// How often route and source address are looked up, nanoseconds.
const LOOK_NS: u64 = 1_000_000_000;
/// How often a datagram is sent at most.
const MAX_TRIES: u32 = 8;

impl Sender {
    /// Opens a socket; if that fails, the error is returned beside the sender, which tries again from
    /// `look_at` on, nanoseconds of the caller's clock.
    #[must_use]
    pub fn open(route: Route, look_at: u64) -> (Self, Option<io::Error>) {
        let (socket, error) = match open(&route) {
            Ok(socket) => (Some(socket), None),
            Err(error) => (None, Some(error)),
        };
        (Self { route, socket, look_at }, error)
    }

    /// Sends a datagram at `now`, and counts its outcome.
    pub fn send(&mut self, payload: &[u8], now: u64, outcomes: &mut Outcomes) {
        let Some(socket) = self.socket(now) else {
            outcomes.failed += 1;
            return;
        };
        let Sending { is_sent, is_usable, refused } = send(socket, payload);
        if !is_usable {
            self.socket = None;
        }
        outcomes.refused += refused;
        outcomes.sent = outcomes.sent.saturating_sub(refused);
        if is_sent {
            outcomes.sent += 1;
        } else {
            outcomes.failed += 1;
        }
    }

    /// The socket; another one if this host has lost the source address or the route, when that is looked up.
    fn socket(&mut self, now: u64) -> Option<&UdpSocket> {
        if now >= self.look_at {
            self.look_at = now + LOOK_NS;
            // First closed, then opened: both have the same source port.
            self.socket = self.socket.take().filter(has_source);
            self.socket = self.socket.take().or_else(|| open(&self.route).ok());
        }
        self.socket.as_ref()
    }
}

/// Whether this host still has the address that the socket sends from: over IPv6 the kernel goes on without.
fn has_source(socket: &UdpSocket) -> bool {
    let Ok(mut source) = socket.local_addr() else { return false };
    source.set_port(0);
    UdpSocket::bind(source).map_or_else(|error| error.kind() != io::ErrorKind::AddrNotAvailable, |_| true)
}

fn open(route: &Route) -> io::Result<UdpSocket> {
    let any: IpAddr = match route.to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let address = route.from.unwrap_or(any);
    let socket = match UdpSocket::bind((address, route.source_port)) {
        // Another process has the port.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => UdpSocket::bind((address, 0)),
        bound => bound,
    }?;
    let traffic_class = route.dscp << 2;
    match route.to {
        SocketAddr::V4(_) => set_ip_tos(&socket, traffic_class)?,
        SocketAddr::V6(_) => set_ipv6_tclass(&socket, u32::from(traffic_class))?,
    }
    socket.set_nonblocking(true)?;
    socket.connect(route.to)?;
    Ok(socket)
}

/// The outcome for a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sending {
    /// Whether the kernel has taken it.
    is_sent: bool,
    /// Whether the kernel may take further ones: not where the source address is gone.
    is_usable: bool,
    /// Earlier datagrams, taken by the kernel, that met a closed port.
    refused: u64,
}

/// Sends a datagram, although earlier ones may have been refused: the kernel reports each of those instead of
/// sending.
fn send(socket: &UdpSocket, payload: &[u8]) -> Sending {
    let mut sending = Sending { is_sent: false, is_usable: true, refused: 0 };
    for _ in 0..MAX_TRIES {
        match socket.send(payload) {
            Ok(_) => return Sending { is_sent: true, ..sending },
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => sending.refused += 1,
            Err(error) => {
                sending.is_usable = error.raw_os_error().is_some_and(|error| PASSING.contains(&error));
                break;
            }
        }
    }
    sending
}

/// Errors that the socket survives: full buffers, a filter here or on the way, a datagram that is too large,
/// and routes that may return.
const PASSING: [i32; 7] = [
    libc::EAGAIN,
    libc::ENOBUFS,
    libc::ENOMEM,
    libc::EPERM,
    libc::EMSGSIZE,
    libc::ENETUNREACH,
    libc::EHOSTUNREACH,
];

#[cfg(test)]
mod tests;
