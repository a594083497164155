//! The agent's state of each flow to a peer.

use std::net::{IpAddr, SocketAddr};

use inband_linux::clock::{self, Clock};

use super::Agent;
use crate::clocks;
use crate::lease::{FlowState, PeerClock};

/// A flow to a peer, and whether it may have INT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowStatus {
    /// Where it comes from.
    pub source: SocketAddr,
    /// Where it goes.
    pub destination: SocketAddr,
    /// The IP protocol.
    pub protocol: u8,
    /// Whether it may have INT, and if not, why.
    pub state: FlowState,
    /// The rest of its lease, milliseconds; 0: none.
    pub lease_ms: u64,
    /// The numbers of packets with INT counted on both sides, and of those lost; `None`: not counted.
    pub counted: Option<(u64, u64)>,
}

/// Another host whose agent has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerStatus {
    /// Its address.
    pub address: IpAddr,
    /// Its node id.
    pub node_id: u32,
    /// The clock of its timestamps; `None`: unknown.
    pub clock: Option<Clock>,
    /// How far that clock is ahead of this host's, and the error of that, nanoseconds; `None`: unknown, or
    /// clocks of different kinds.
    pub offset_ns: Option<(i64, u64)>,
}

impl Agent {
    /// The flows to peers in the last minute, ordered by address, at most `count`.
    #[must_use]
    pub fn flows(&self, count: usize) -> Vec<FlowStatus> {
        let now = clock::monotonic();
        let status = |(flow, state, until): (crate::lease::Flow, FlowState, u64)| FlowStatus {
            source: SocketAddr::new(flow.source, flow.source_port),
            destination: SocketAddr::new(flow.destination, flow.destination_port),
            protocol: flow.protocol,
            state,
            lease_ms: until.saturating_sub(now) / 1_000_000,
            counted: self.control.losses_of(&flow),
        };
        let mut flows: Vec<_> = self.control.states(now).map(status).collect();
        flows.sort_unstable_by_key(|flow| (flow.destination, flow.source, flow.protocol));
        flows.truncate(count);
        flows
    }

    /// Hosts whose agents have answered, ordered by address, at most `count`.
    #[must_use]
    pub fn peers(&self, count: usize) -> Vec<PeerStatus> {
        let own = self.settings.host.clock;
        let status = |(address, node_id, clock): (IpAddr, u32, Option<PeerClock>)| {
            let kind = clock.and_then(|clock| clocks::from_code(clock.kind));
            let is_comparable = kind.is_some_and(|kind| clocks::are_comparable(own, kind));
            let offset = |clock: PeerClock| {
                let own = i128::from(self.plan.clock_offset.ns);
                Some((i64::try_from(clock.offset_ns - own).ok()?, clock.uncertainty_ns))
            };
            PeerStatus {
                address,
                node_id,
                clock: kind,
                offset_ns: clock.filter(|_| is_comparable).and_then(offset),
            }
        };
        let mut peers: Vec<_> = self.control.known_peers().map(status).collect();
        peers.sort_unstable_by_key(|peer| peer.address);
        peers.truncate(count);
        peers
    }

    /// The host's node id.
    #[must_use]
    pub const fn node_id(&self) -> u32 {
        self.plan.node.node.id
    }
}
