//! The sockets by which reports get to their collectors.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use inband_linux::clock;
use inband_linux::connected::{self, Sending};
use inband_node::ReportDatagram;
use inband_node::config::ReportConfig;
use rustix::net::sockopt::{set_ip_tos, set_ipv6_tclass};

use super::notes::in_full;
use crate::error::HostError;

/// A sender for each report session.
#[derive(Debug)]
pub(super) struct Senders {
    senders: Vec<Sender>,
    pub(super) sent: u64,
    /// Datagrams that the kernel refused, for example without a route.
    pub(super) failed: u64,
    /// Datagrams that the collector's host has refused, as far as it reports it: its port is closed.
    pub(super) refused: u64,
}

/// A session and its socket.
#[derive(Debug)]
struct Sender {
    session: ReportConfig,
    /// `None`: there is no route to the collector yet.
    socket: Option<UdpSocket>,
    /// When the route is next looked up, nanoseconds of the monotonic clock.
    retry_at: u64,
}

/// How often a route to the collector is looked up, nanoseconds.
const RETRY_NS: u64 = 1_000_000_000;

impl Senders {
    /// Opens a socket for each session; a collector that cannot be reached is noted and retried later.
    pub(super) fn open(report: &ReportConfig) -> (Self, Vec<String>) {
        let mut notes = Vec::new();
        let mut sender = |session: &ReportConfig| {
            let socket = match open(session) {
                Ok(socket) => Some(socket),
                Err(error) => {
                    notes.push(format!("note: {}; it is tried again", in_full(&error)));
                    None
                }
            };
            Sender { session: session.clone(), socket, retry_at: clock::monotonic() + RETRY_NS }
        };
        let senders = report.sessions().iter().map(&mut sender).collect();
        (Self { senders, sent: 0, failed: 0, refused: 0 }, notes)
    }

    /// Sends a datagram to its collector, and counts the outcome.
    pub(super) fn send(&mut self, datagram: &ReportDatagram<'_>) {
        let Some(sender) = self.senders.get_mut(datagram.session) else { return };
        let Some(socket) = sender.socket() else {
            self.failed += 1;
            return;
        };
        let Sending { is_sent, refused } = connected::send(socket, datagram.payload);
        self.refused += refused;
        self.sent = self.sent.saturating_sub(refused);
        if is_sent {
            self.sent += 1;
        } else {
            self.failed += 1;
        }
    }
}

impl Sender {
    /// The socket; looks up the route again when that is due.
    fn socket(&mut self) -> Option<&UdpSocket> {
        let now = clock::monotonic();
        if self.socket.is_none() && now >= self.retry_at {
            self.retry_at = now + RETRY_NS;
            self.socket = open(&self.session).ok();
        }
        self.socket.as_ref()
    }
}

fn open(session: &ReportConfig) -> Result<UdpSocket, HostError> {
    let fault = |reason| HostError::system(format!("send reports to {}", session.collector), reason);
    let any: IpAddr = match session.collector {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let address = session.source_address.unwrap_or(any);
    let bound = match UdpSocket::bind((address, session.source_port)) {
        // Another process has the port; collectors do not require one.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => UdpSocket::bind((address, 0)),
        bound => bound,
    };
    let socket = bound.map_err(fault)?;
    let traffic_class = session.dscp << 2;
    let set = match session.collector {
        SocketAddr::V4(_) => set_ip_tos(&socket, traffic_class),
        SocketAddr::V6(_) => set_ipv6_tclass(&socket, u32::from(traffic_class)),
    };
    set.map_err(|reason| fault(reason.into()))?;
    socket.set_nonblocking(true).and_then(|()| socket.connect(session.collector)).map_err(fault)?;
    Ok(socket)
}
