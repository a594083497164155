//! A trial of the path to one address: what of INT survives it, and what traffic would get INT.

mod exchange;
mod outlook;
mod size;

use std::net::IpAddr;

use inband_linux::device::{self, Device};
use inband_linux::netlink::Netlink;
use inband_node::NodeConfig;
use inband_node::config::{EncapsulationKind, IntVersion};

use crate::beside::{self, Beside};
use crate::error::HostError;
use crate::lease::FlowState;
use crate::plan::Plan;
use crate::settings::HostSettings;
use exchange::{Answer, Exchange};
pub use outlook::Outlook;

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

/// Tries the path to `destination` with the settings of this host's agent, which may run or not.
///
/// It sends some twenty probes at most, which a host without a sink drops, and some datagrams to the control port.
///
/// # Errors
/// Settings that cannot be followed, no route, a device without frames of Ethernet, or what the system refuses.
pub fn try_path(settings: &HostSettings, destination: IpAddr) -> Result<Trial, HostError> {
    settings.check()?;
    let mut netlink = Netlink::open().map_err(|reason| HostError::system("reach netlink", reason))?;
    let all = device::all(&mut netlink).map_err(|reason| HostError::system("list the devices", reason))?;
    let mut settings = settings.clone();
    settings.resolve_id(&mut netlink, &all)?;
    let plan = Plan::new(&settings, &all, settings.host.clock.offset())?;
    let mut exchange = Exchange::open(&settings, &plan.node, destination)?;
    let device = device_of(&all, exchange.device())?;
    let interface = plan.devices.iter().find(|(listed, _)| listed.index == device.index).map(|(_, id)| *id);
    exchange.set_interface(interface);
    let agent = exchange.ask()?;
    let mut encapsulations = Vec::new();
    for node in variants(&plan.node) {
        encapsulations.push(try_encapsulation(&mut exchange, &node, &plan.node, device.mtu)?);
    }
    let programs = beside::programs(&mut netlink, device)?;
    let mut trial = Trial {
        destination,
        source: exchange.source(),
        device: device.name.clone(),
        mtu: device.mtu,
        agent,
        encapsulations,
        state: FlowState::NoAnswer,
        programs,
        outlooks: Vec::new(),
    };
    trial.state = trial.state();
    trial.outlooks = outlook::outlooks(&trial, &settings, &plan, interface.is_some());
    Ok(trial)
}

impl Trial {
    /// What was found out about the configured encapsulation.
    #[must_use]
    pub fn configured(&self) -> Option<&EncapsulationTrial> {
        self.encapsulations.iter().find(|encapsulation| encapsulation.is_configured)
    }

    fn state(&self) -> FlowState {
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

/// The shortest probe that is tried, bytes of IP.
const MIN_PROBE: u32 = 400;

fn device_of(all: &[Device], index: u32) -> Result<&Device, HostError> {
    let gone = || HostError::system("find the device of the route", std::io::ErrorKind::NotFound);
    all.iter().find(|device| device.index == index).ok_or_else(gone)
}

/// The node as it is configured, and with every other encapsulation and version that hosts know.
fn variants(node: &NodeConfig) -> Vec<NodeConfig> {
    let mut variants = vec![node.clone()];
    for (version, kind) in [
        (IntVersion::V2_1, EncapsulationKind::Dscp),
        (IntVersion::V2_1, EncapsulationKind::UdpPort),
        (IntVersion::V2_1, EncapsulationKind::Udp),
        (IntVersion::Host0_5, EncapsulationKind::Dscp),
        (IntVersion::Host0_5, EncapsulationKind::Udp),
    ] {
        if (version, kind) != (node.int_version(), node.encapsulation.kind()) {
            let mut other = node.clone();
            (other.node.int_version, other.encapsulation.kind) = (Some(version), Some(kind));
            variants.push(other);
        }
    }
    variants
}

/// Sends probes of `node`'s encapsulation, and finds the largest that arrives where it is the `configured` one.
fn try_encapsulation(
    exchange: &mut Exchange,
    node: &NodeConfig,
    configured: &NodeConfig,
    mtu: u32,
) -> Result<EncapsulationTrial, HostError> {
    let of = |node: &NodeConfig| (node.int_version(), node.encapsulation.kind());
    let is_configured = of(node) == of(configured);
    let mut passes = |length: u32| Ok(exchange.probe(node, length)? == Answer::Removed);
    let largest = match passes(MIN_PROBE.min(mtu))? {
        false => None,
        true if is_configured => Some(size::largest(MIN_PROBE.min(mtu), mtu, &mut passes)?),
        true => Some(if passes(mtu)? { mtu } else { MIN_PROBE.min(mtu) }),
    };
    let has_flow_arrived = match largest {
        Some(largest) if is_configured => Some(exchange.has_flow_arrived(node, largest)?),
        _ => None,
    };
    let (version, kind) = of(node);
    let (version, kind) = (version.wire().name(), kind.name());
    Ok(EncapsulationTrial { version, kind, is_configured, largest, has_flow_arrived })
}
