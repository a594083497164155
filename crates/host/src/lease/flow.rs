//! A flow, the unit of probes and proofs.

use std::net::IpAddr;

use crate::abi::{Address, FlowKey};

/// Addresses, protocol and ports of packets in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Flow {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) protocol: u8,
}

impl Flow {
    /// The flow as a key of the programs' maps.
    pub(crate) fn key(&self) -> FlowKey {
        FlowKey {
            source: Address::of(self.source),
            destination: Address::of(self.destination),
            source_port: self.source_port.into(),
            destination_port: self.destination_port.into(),
            protocol: self.protocol.into(),
        }
    }
}
