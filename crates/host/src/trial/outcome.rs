//! The results of a trial.

use std::net::IpAddr;

use crate::beside::Beside;
use crate::lease::FlowState;

/// The results for the path to one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The destination address.
    pub destination: IpAddr,
    /// The source address, of this host.
    pub source: IpAddr,
    /// The device that packets leave by.
    pub device: String,
    /// The device's MTU, bytes of IP.
    pub mtu: u32,
    /// The answer of the destination's agent.
    pub agent: PeerAgent,
    /// The results of probes, the configured encapsulation first.
    pub encapsulations: Vec<EncapsulationTrial>,
    /// What keeps INT from flows to the address; `Proven`: nothing.
    pub state: FlowState,
    /// Programs and filters on the device.
    pub programs: Vec<Beside>,
    /// Kinds of traffic to the address, and whether they would get INT.
    pub outlooks: Vec<Outlook>,
}

/// The answer of a destination's agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerAgent {
    /// It removes INT as this host starts it.
    Agrees {
        /// Its node id.
        node_id: u32,
    },
    /// It refuses INT of this host.
    Refuses {
        /// Its node id.
        node_id: u32,
        /// Why.
        reason: String,
    },
    /// It has not answered.
    Silent,
}

/// The results of probes in one encapsulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncapsulationTrial {
    /// The version of INT.
    pub version: &'static str,
    /// The encapsulation, as `encapsulation.kind` names it.
    pub kind: &'static str,
    /// Whether it is the configured one.
    pub is_configured: bool,
    /// The largest packet from which the destination's sink removed INT, bytes of IP with INT; `None`: it removed none.
    pub largest: Option<u32>,
    /// Whether the datagrams of the probe's own flow have arrived after it; `None`: not tried.
    pub has_flow_arrived: Option<bool>,
}

/// A kind of traffic, and whether it would get INT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// The kind of traffic.
    pub traffic: String,
    /// Whether it would get INT.
    pub gets_int: bool,
    /// How it gets INT, or why it does not.
    pub reason: String,
}

impl Trial {
    /// The result for the configured encapsulation.
    #[must_use]
    pub fn configured(&self) -> Option<&EncapsulationTrial> {
        self.encapsulations.iter().find(|encapsulation| encapsulation.is_configured)
    }

    /// What keeps INT from flows to the address, according to the agent and the probes.
    pub(super) fn state(&self) -> FlowState {
        let configured = self.configured();
        match (&self.agent, configured.and_then(|configured| configured.largest)) {
            (PeerAgent::Refuses { .. }, _) => FlowState::Refused,
            (_, Some(_)) if configured.is_some_and(|it| it.has_flow_arrived == Some(true)) => {
                FlowState::Proven
            }
            (_, Some(_)) => FlowState::OnlyProbesArrive,
            (PeerAgent::Agrees { .. }, None) => FlowState::ProbesLost,
            (PeerAgent::Silent, None) => FlowState::NoAnswer,
        }
    }
}
