//! The sockets by which reports get to their collectors.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use inband_linux::connected::{self, Sending};
use inband_node::config::ReportConfig;
use inband_node::{Node, Output, OwnPacket, ReportDatagram};
use inband_wire::Link;
use rustix::net::sockopt::{set_ip_tos, set_ipv6_tclass};

/// A sender for each report session.
#[derive(Debug)]
pub(crate) struct Senders {
    senders: Vec<Sender>,
    pub(crate) sent: u64,
    /// Datagrams that the kernel refused, for example without a route.
    pub(crate) failed: u64,
    /// Datagrams that the collector's host has refused, as far as it reports it.
    pub(crate) refused: u64,
}

#[derive(Debug)]
struct Sender {
    session: ReportConfig,
    /// `None`: there is no route to the collector yet.
    socket: Option<UdpSocket>,
    /// When the route is next looked up, nanoseconds.
    retry_at: u64,
}

const RETRY_NS: u64 = 1_000_000_000;

impl Senders {
    /// Opens a socket for each session; a collector that cannot be reached is retried later.
    pub(crate) fn open(report: &ReportConfig) -> Self {
        let sender = |session| {
            let socket = open(&session).ok();
            Sender { session, socket, retry_at: 0 }
        };
        let senders = report.sessions().into_iter().map(sender).collect();
        Self { senders, sent: 0, failed: 0, refused: 0 }
    }

    /// Sends the node's reports, up to its next packet, which it returns.
    pub(crate) fn drain(&mut self, node: &mut Node, now: u64) -> Option<OwnPacket> {
        while let Some(output) = node.poll_output() {
            match output {
                Output::Report(datagram) => self.send(&datagram, now),
                other => {
                    if let Some(own) = other.into_packet().filter(|own| own.link == Link::Ethernet) {
                        return Some(own);
                    }
                }
            }
        }
        None
    }

    /// Sends a datagram to its collector, and counts the outcome.
    fn send(&mut self, datagram: &ReportDatagram<'_>, now: u64) {
        let Some(sender) = self.senders.get_mut(datagram.session) else { return };
        let Some(socket) = sender.socket(now) else {
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
    fn socket(&mut self, now: u64) -> Option<&UdpSocket> {
        if self.socket.is_none() && now >= self.retry_at {
            self.retry_at = now + RETRY_NS;
            self.socket = open(&self.session).ok();
        }
        self.socket.as_ref()
    }
}

fn open(session: &ReportConfig) -> io::Result<UdpSocket> {
    let any: IpAddr = match session.collector {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let address = session.source_address.unwrap_or(any);
    let socket = match UdpSocket::bind((address, session.source_port)) {
        // Another program on this host has the port; collectors do not require one.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => UdpSocket::bind((address, 0)),
        bound => bound,
    }?;
    let traffic_class = session.dscp << 2;
    match session.collector {
        SocketAddr::V4(_) => set_ip_tos(&socket, traffic_class)?,
        SocketAddr::V6(_) => set_ipv6_tclass(&socket, u32::from(traffic_class))?,
    }
    socket.set_nonblocking(true)?;
    socket.connect(session.collector)?;
    Ok(socket)
}
