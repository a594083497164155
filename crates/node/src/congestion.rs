//! Traffic that is known to be congestion controlled.

use inband_wire::int::CodePoints;
use inband_wire::layers::Link;
use inband_wire::{Strictness, dissect};

use crate::config::{PortRange, SourceConfig};

/// Starts INT only in traffic known to be congestion controlled, if configured.
// int-2.1/congestion-01, int-2.1/congestion-02, int-2.1/congestion-03, int-2.1/congestion-04
#[derive(Clone, Debug)]
pub(crate) struct CongestionFilter {
    is_on: bool,
    /// UDP ports of applications that control congestion themselves.
    ports: Vec<PortRange>,
}

impl CongestionFilter {
    pub(crate) fn new(config: &SourceConfig) -> Self {
        Self { is_on: config.congestion_controlled_only, ports: config.congestion_controlled_ports.clone() }
    }

    /// Whether INT may be started in the packet.
    #[inline]
    pub(crate) fn admits(&self, link: Link, bytes: &[u8]) -> bool {
        !self.is_on || self.is_controlled(link, bytes)
    }

    /// Packets from hosts carry no INT mark, and a tunnel is controlled if its content is:
    /// RFC 8085, section 3.1.11.
    #[cold]
    fn is_controlled(&self, link: Link, bytes: &[u8]) -> bool {
        let Some(flow) = dissect(link, bytes, &CodePoints::NONE, Strictness::Truncated).flow else {
            return false;
        };
        let is_listed = |port: u16| port != 0 && self.ports.iter().any(|range| range.0.contains(&port));
        match flow.protocol {
            TCP | DCCP | SCTP => true,
            UDP => is_listed(flow.source_port) || is_listed(flow.destination_port),
            _ => false,
        }
    }
}

const TCP: u8 = 6;
const UDP: u8 = 17;
const DCCP: u8 = 33;
const SCTP: u8 = 132;
