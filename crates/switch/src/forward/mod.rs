//! Forwarding decisions.

mod decision;
mod fragments;
mod icmp;
mod learn;
mod prefixes;
mod recent;
mod routes;
mod statics;

use std::sync::Arc;

use inband_linux::device::Device;
use inband_node::NodeConfig;
use inband_node::config::Forwarding as Configured;

use crate::follow::Tables;
pub(crate) use decision::{Arrival, Decision, Neighbour, Rewrite};
pub(crate) use fragments::fragments;
pub(crate) use icmp::{Message, Reply, decrement};
use learn::Learn;
pub(crate) use prefixes::Prefixes;
use routes::Routes;
use statics::Statics;

/// The forwarding method of a switch.
#[derive(Debug)]
pub(crate) enum Forwarding {
    Learn(Learn),
    Routes(Routes),
    Static(Statics),
}

impl Forwarding {
    pub(crate) fn new(config: &NodeConfig, devices: &[Device]) -> Self {
        match config.switch.forwarding {
            Configured::Learn => Self::Learn(Learn::default()),
            Configured::Routes => Self::Routes(Routes::new(config.node.id, devices)),
            Configured::Static => Self::Static(Statics::new(config)),
        }
    }

    /// Applies another configuration's entries.
    pub(crate) fn reload(&mut self, config: &NodeConfig) {
        if let Self::Static(statics) = self {
            *statics = Statics::new(config);
        }
    }

    /// Forwards to another device in place of that of a port.
    pub(crate) fn set_device(&mut self, port: usize, device: &Device) {
        if let Self::Routes(routes) = self {
            routes.set_device(port, device);
        }
    }

    /// Adopts the kernel's current tables.
    pub(crate) fn adopt(&mut self, tables: &Arc<Tables>) {
        if let Self::Routes(routes) = self {
            routes.adopt(tables);
        }
    }

    pub(crate) fn decide(&mut self, arrival: &Arrival<'_>) -> Decision {
        match self {
            Self::Learn(learn) => learn.decide(arrival),
            Self::Routes(routes) => routes.decide(arrival),
            Self::Static(statics) => statics.decide(arrival),
        }
    }

    /// Whether the switch sends ICMP messages as a router does.
    pub(crate) fn is_router(&self) -> bool {
        matches!(self, Self::Routes(_))
    }
}
