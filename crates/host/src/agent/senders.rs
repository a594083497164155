//! How do reports get to their collectors?

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use inband_node::ReportDatagram;
use inband_node::config::ReportConfig;
use rustix::net::sockopt::{set_ip_tos, set_ipv6_tclass};

use crate::error::HostError;

/// A socket for each report session.
#[derive(Debug)]
pub(super) struct Senders {
    sockets: Vec<UdpSocket>,
    pub(super) sent: u64,
    /// What the kernel did not take.
    pub(super) failed: u64,
}

impl Senders {
    pub(super) fn open(report: &ReportConfig) -> Result<Self, HostError> {
        let sockets = report.sessions().iter().map(open).collect::<Result<_, _>>()?;
        Ok(Self { sockets, sent: 0, failed: 0 })
    }

    /// Sends a datagram to its collector; one that the kernel does not take is counted.
    pub(super) fn send(&mut self, datagram: &ReportDatagram<'_>) {
        let Some(socket) = self.sockets.get(datagram.session) else { return };
        let sent = match socket.send(datagram.payload) {
            // An earlier datagram met a closed port; this one has not been tried yet.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => socket.send(datagram.payload),
            sent => sent,
        };
        match sent {
            Ok(_) => self.sent += 1,
            Err(_) => self.failed += 1,
        }
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
        // Somebody else on this host has the port; collectors do not ask for one.
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
