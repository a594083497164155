//! Where what sinks report comes back: a collector, this machine's own port of reports, or nowhere.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use anyhow::Error;
use inband_model::Flow;
use inband_wire::report::AnyReport;

use super::collector::{self, Client};
use super::stack::{self, Ended, Hop, Seen};
use crate::failure::Failure;

/// Where reports come back.
pub(super) enum Receiver {
    /// A collector's history.
    Collector(Client),
    /// The port that sinks send to, where they report to this machine.
    Direct(Vec<UdpSocket>),
    /// Nowhere: only what routers quote is known.
    Nothing,
}

/// What was known before a probe was sent.
pub(super) enum Mark {
    Collector(collector::Mark),
    None,
}

impl Receiver {
    /// Finds out where reports come back.
    ///
    /// # Errors
    /// The collector that was named does not answer.
    pub(super) fn open(collector: Option<&str>, token: Option<String>) -> Result<Self, Failure> {
        let named = collector.map(str::to_owned).or_else(|| std::env::var("INBAND_COLLECTOR").ok());
        if let Some(url) = named {
            let client = Client::new(&url, token);
            client.check().map_err(Failure::Work)?;
            return Ok(Self::Collector(client));
        }
        let client = Client::new(DEFAULT_COLLECTOR, token);
        if client.check().is_ok() {
            return Ok(Self::Collector(client));
        }
        let any = [SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT)), (Ipv6Addr::UNSPECIFIED, PORT).into()];
        let mut sockets = Vec::new();
        for address in any {
            let Ok(socket) = UdpSocket::bind(address) else { continue };
            if socket.set_nonblocking(true).is_ok() {
                sockets.push(socket);
            }
        }
        Ok(if sockets.is_empty() { Self::Nothing } else { Self::Direct(sockets) })
    }

    /// Says where reports are expected.
    pub(super) fn announce(&self) {
        match self {
            Self::Collector(client) => eprintln!("reports: by the collector at {}", client.base()),
            Self::Direct(_) => eprintln!(
                "reports: by UDP port {PORT} of this machine, as no collector answers at {DEFAULT_COLLECTOR}; --collector names one"
            ),
            Self::Nothing => eprintln!(
                "reports: none, as no collector answers at {DEFAULT_COLLECTOR} and UDP port {PORT} is in use; hops are those that routers quote"
            ),
        }
    }

    /// Notes what is known before a probe is sent.
    pub(super) fn mark(&self, flow: Flow) -> Result<Mark, Error> {
        match self {
            Self::Collector(client) => client.mark(flow).map(Mark::Collector),
            Self::Direct(sockets) => {
                let mut buffer = [0; 1 << 16];
                for socket in sockets {
                    while socket.recv(&mut buffer).is_ok() {}
                }
                Ok(Mark::None)
            }
            Self::Nothing => Ok(Mark::None),
        }
    }

    /// The report of a probe of `flow`, if it has come.
    pub(super) fn look(&self, flow: Flow, mark: &Mark, remaining_hops: u8) -> Result<Option<Seen>, Error> {
        match (self, mark) {
            (Self::Collector(client), Mark::Collector(mark)) => client.look(flow, mark, remaining_hops),
            (Self::Direct(sockets), _) => Ok(sockets.iter().find_map(|socket| receive(socket, flow))),
            _ => Ok(None),
        }
    }

    /// Adds names to hops, where they are known.
    pub(super) fn name(&self, hops: &mut [Hop]) {
        if let Self::Collector(client) = self {
            client.name(hops);
        }
    }
}

/// The first report of the flow among what has come.
fn receive(socket: &UdpSocket, flow: Flow) -> Option<Seen> {
    let mut buffer = [0; 1 << 16];
    while let Ok(length) = socket.recv(&mut buffer) {
        if let Some(seen) = read(buffer.get(..length)?, flow) {
            return Some(seen);
        }
    }
    None
}

/// What a datagram of reports says of a probe of the flow.
fn read(datagram: &[u8], flow: Flow) -> Option<Seen> {
    let group = AnyReport::parse(datagram).ok()?;
    group.reports().flatten().find_map(|report| {
        let (link, packet, _) = report.packet()?;
        let read = stack::read_as(link, packet).filter(|read| read.flow == flow)?;
        let mut hops = read.hops;
        // A sink may say of itself in the report what it does not put on the stack.
        let own = Hop::new(group.node_id(), &report.metadata());
        let says_something =
            own.hop_latency.is_some() || own.ingress_interface.is_some() || own.egress_timestamp.is_some();
        if says_something && hops.last().is_none_or(|last| Some(last.node_id) != group.node_id()) {
            hops.push(own);
        }
        stack::link_up(&mut hops);
        let ended = match () {
            () if report.dropped() => Ended::Lost,
            () if read.max_hops_exceeded => Ended::HopsExceeded,
            () if read.mtu_exceeded => Ended::MtuExceeded,
            () => Ended::Sink,
        };
        Some(Seen { hops, ended, at: None })
    })
}

const DEFAULT_COLLECTOR: &str = "http://127.0.0.1:8080";
/// The port of reports.
const PORT: u16 = 32766;
