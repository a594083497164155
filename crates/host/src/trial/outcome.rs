//! What a trial found out.

use std::net::IpAddr;

use crate::beside::Beside;
use crate::lease::FlowState;

/// What was found out about the path to one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The address that packets go to.
    pub destination: IpAddr,
    /// The address of this host that they come from.
    pub source: IpAddr,
    /// The device that they leave by.
    pub device: String,
    /// The device's MTU, bytes of IP.
    pub mtu: u32,
    /// What the agent of the destination says.
    pub agent: PeerAgent,
    /// What becomes of probes, the configured encapsulation first.
    pub encapsulations: Vec<EncapsulationTrial>,
    /// What stands between flows to the address and INT; `Proven`: nothing.
    pub state: FlowState,
    /// Programs and filters on the device.
    pub programs: Vec<Beside>,
    /// Kinds of traffic to the address, and whether they would get INT.
    pub outlooks: Vec<Outlook>,
}

/// What the agent of a destination says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerAgent {
    /// It removes INT as this host starts it.
    Agrees {
        /// Its node id.
        node_id: u32,
    },
    /// It does not want INT of this host.
    Refuses {
        /// Its node id.
        node_id: u32,
        /// Why.
        reason: String,
    },
    /// It has not answered.
    Silent,
}

/// What becomes of probes in one encapsulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncapsulationTrial {
    /// The version of INT.
    pub version: &'static str,
    /// The encapsulation, as `encapsulation.kind` names it.
    pub kind: &'static str,
    /// Whether the settings are for it.
    pub is_configured: bool,
    /// The largest packet from which the destination's sink removed INT, bytes of IP with INT; `None`: it removed none.
    pub largest: Option<u32>,
    /// Whether the datagrams of the probe's flow itself have arrived behind it; `None`: not tried.
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
    /// What was found out about the configured encapsulation.
    #[must_use]
    pub fn configured(&self) -> Option<&EncapsulationTrial> {
        self.encapsulations.iter().find(|encapsulation| encapsulation.is_configured)
    }

    /// What stands between flows to the address and INT, as the agent and the probes tell it.
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
