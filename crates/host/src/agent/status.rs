//! What the agent knows of each flow to a peer.

use std::net::SocketAddr;

use inband_linux::clock;

use super::Agent;
use crate::lease::FlowState;

/// A flow to a peer, and whether it may have INT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowStatus {
    /// Where it comes from.
    pub source: SocketAddr,
    /// Where it goes.
    pub destination: SocketAddr,
    /// The IP protocol.
    pub protocol: u8,
    /// Whether it may have INT, and why not.
    pub state: FlowState,
    /// How long its lease is still, milliseconds; 0: it has none.
    pub lease_ms: u64,
}

impl Agent {
    /// The flows to peers in the last minute, in the order of their addresses, at most `count` of them.
    #[must_use]
    pub fn flows(&self, count: usize) -> Vec<FlowStatus> {
        let now = clock::monotonic();
        let status = |(flow, state, until): (crate::lease::Flow, FlowState, u64)| FlowStatus {
            source: SocketAddr::new(flow.source, flow.source_port),
            destination: SocketAddr::new(flow.destination, flow.destination_port),
            protocol: flow.protocol,
            state,
            lease_ms: until.saturating_sub(now) / 1_000_000,
        };
        let mut flows: Vec<_> = self.control.states(now).map(status).collect();
        flows.sort_unstable_by_key(|flow| (flow.destination, flow.source, flow.protocol));
        flows.truncate(count);
        flows
    }
}
