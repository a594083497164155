//! How sinks' reports arrive: through a collector, at this machine's report port, or not at all.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use anyhow::Error;
use inband_model::Flow;
use inband_node::config::EncapsulationConfig;
use inband_wire::report::AnyReport;

use super::collector::{self, Client};
use super::raw;
use super::stack::{self, Ended, Hop, Seen};
use crate::collector_url::CollectorUrl;
use crate::failure::Failure;
use crate::note::note;

/// How reports arrive.
pub(super) enum Receiver {
    /// In a collector's history.
    Collector(Client),
    /// At this machine's report port, where the sinks report to it.
    Direct(Direct),
    /// Not at all: only routers' quotes are available.
    Nothing,
}

/// The sockets at the report port, and how INT is marked in the reported packets.
pub(super) struct Direct {
    sockets: Vec<UdpSocket>,
    encapsulation: Option<EncapsulationConfig>,
}

/// The state before a probe is sent.
pub(super) enum Mark {
    Collector(collector::Mark),
    None,
}

impl Receiver {
    /// Selects how reports on probes with this encapsulation arrive; `wait`: how long one is waited for.
    ///
    /// # Errors
    /// The named collector does not answer.
    pub(super) fn open(
        collector: Option<CollectorUrl>,
        token: Option<String>,
        encapsulation: Option<EncapsulationConfig>,
        wait: Duration,
    ) -> Result<Self, Failure> {
        if let Some(url) = collector {
            let client = Client::new(url, token, wait);
            client.check().map_err(Failure::Work)?;
            return Ok(Self::Collector(client));
        }
        let url = DEFAULT_COLLECTOR.parse().map_err(Failure::usage)?;
        let client = Client::new(url, token, wait);
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
        Ok(if sockets.is_empty() { Self::Nothing } else { Self::Direct(Direct { sockets, encapsulation }) })
    }

    /// Prints how reports are expected.
    pub(super) fn announce(&self) {
        match self {
            Self::Collector(client) => note!("reports: by the collector at {}", client.base()),
            Self::Direct(_) => note!(
                "reports: by UDP port {PORT} of this machine, as no collector answers at {DEFAULT_COLLECTOR}; --collector names one"
            ),
            Self::Nothing => note!(
                "reports: none, as no collector answers at {DEFAULT_COLLECTOR} and UDP port {PORT} is in use; hops are those that routers quote"
            ),
        }
    }

    /// Records the state before a probe is sent; discards old reports.
    pub(super) fn mark(&self, flow: Flow) -> Result<Mark, Error> {
        match self {
            Self::Collector(client) => client.mark(flow).map(Mark::Collector),
            Self::Direct(direct) => {
                let mut buffer = [0; 1 << 16];
                for socket in &direct.sockets {
                    while socket.recv(&mut buffer).is_ok() {}
                }
                Ok(Mark::None)
            }
            Self::Nothing => Ok(Mark::None),
        }
    }

    /// Whether reports can arrive at all.
    pub(super) const fn is_open(&self) -> bool {
        !matches!(self, Self::Nothing)
    }

    /// Waits, at most for `wait`, for the reports about probes that were sent without waiting for them, if
    /// they would be taken for reports about the next probe.
    pub(super) fn settle(&self, flow: Flow, wait: Duration) -> Result<(), Error> {
        if let Self::Collector(client) = self { client.settle(flow, wait) } else { Ok(()) }
    }

    /// The report about the probe of `flow` with this number, if it has arrived. The history of a collector
    /// does not tell it from other packets of the flow.
    pub(super) fn look(
        &self,
        (flow, number): (Flow, u16),
        mark: &Mark,
        remaining_hops: u8,
    ) -> Result<Option<Seen>, Error> {
        match (self, mark) {
            (Self::Collector(client), Mark::Collector(mark)) => client.look(flow, mark, remaining_hops),
            (Self::Direct(direct), _) => Ok(direct.receive(flow, number)),
            _ => Ok(None),
        }
    }

    /// Adds the names of hops, where they are known.
    pub(super) fn name(&self, hops: &mut [Hop]) {
        if let Self::Collector(client) = self {
            client.name(hops);
        }
    }
}

impl Direct {
    /// The first report about the probe among the pending datagrams.
    fn receive(&self, flow: Flow, number: u16) -> Option<Seen> {
        let mut buffer = [0; 1 << 16];
        for socket in &self.sockets {
            while let Ok(length) = socket.recv(&mut buffer) {
                let datagram = buffer.get(..length).unwrap_or_default();
                if let Some(seen) = read(datagram, (flow, number), self.encapsulation.as_ref()) {
                    return Some(seen);
                }
            }
        }
        None
    }
}

/// The report in a datagram about a probe, rather than about a packet of its flow; its number may be cut off.
fn read(
    datagram: &[u8],
    (flow, number): (Flow, u16),
    encapsulation: Option<&EncapsulationConfig>,
) -> Option<Seen> {
    let is_it = |read: &stack::Read, link, packet| {
        let known = raw::number_behind(link, packet);
        read.flow == flow && read.discard && known.is_none_or(|known| known == number)
    };
    let group = AnyReport::parse(datagram).ok()?;
    group.reports().flatten().find_map(|report| {
        let (link, packet, _) = report.packet()?;
        let read = stack::read(link, packet, encapsulation).filter(|read| is_it(read, link, packet))?;
        let mut hops = read.hops;
        // A sink may put its own metadata in the report only, not on the stack.
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
        Some(Seen::reported(hops, ended))
    })
}

const DEFAULT_COLLECTOR: &str = "http://127.0.0.1:8080";
/// The report port.
const PORT: u16 = 32766;

#[cfg(test)]
mod tests;
