//! Does the flow watchlist select a packet?

use std::net::IpAddr;

use inband_wire::FiveTuple;

use crate::config::WatchEntry;

/// The flow watchlist: a packet is watched when any entry matches it.
#[derive(Clone, Debug, Default)]
pub struct Watchlist(Vec<WatchEntry>);

impl Watchlist {
    /// Creates the watchlist of `entries`; without entries nothing is watched.
    #[must_use]
    pub fn new(entries: &[WatchEntry]) -> Self {
        Self(entries.to_vec())
    }

    /// Whether nothing is watched.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the packet with this five-tuple is watched.
    #[must_use]
    pub fn watches(&self, flow: &FiveTuple) -> bool {
        // int-2.1/domain-04, int-2.1/congestion-03: flows are selected by addresses, protocol and ports.
        self.0.iter().any(|entry| entry.matches(flow))
    }
}

impl WatchEntry {
    /// Whether every key that is given matches; entries with a port match TCP and UDP only.
    #[must_use]
    pub fn matches(&self, flow: &FiveTuple) -> bool {
        let inside = |prefix: &Option<crate::config::Prefix>, addresses: &[IpAddr]| {
            prefix.is_none_or(|prefix| addresses.iter().any(|address| prefix.contains(*address)))
        };
        let has_ports = matches!(flow.protocol, 6 | 17);
        let port = |range: &Option<crate::config::PortRange>, port: u16| {
            range.as_ref().is_none_or(|range| has_ports && range.0.contains(&port))
        };
        inside(&self.source, &[flow.source])
            && inside(&self.destination, &[flow.destination])
            && inside(&self.either, &[flow.source, flow.destination])
            && self.protocol.is_none_or(|protocol| protocol.0 == flow.protocol)
            && port(&self.source_port, flow.source_port)
            && port(&self.destination_port, flow.destination_port)
    }
}
