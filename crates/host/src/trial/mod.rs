//! A trial of the path to one address: which INT survives it, and which traffic would get INT.

mod exchange;
mod outcome;
mod outlook;
mod size;

use std::net::IpAddr;

use inband_linux::device::{self, Device};
use inband_linux::netlink::Netlink;
use inband_node::NodeConfig;
use inband_node::config::{EncapsulationKind, IntVersion};

use crate::beside;
use crate::error::HostError;
use crate::lease::FlowState;
use crate::plan::Plan;
use crate::settings::HostSettings;
use exchange::{Answer, Exchange};
pub use outcome::{EncapsulationTrial, Outlook, PeerAgent, Trial};

/// Tries the path to `destination` with the settings of this host's agent, which need not run.
///
/// It sends about twenty probes, which a host without a sink drops, and some datagrams to the control port.
///
/// # Errors
/// Settings that cannot be applied, no route, a device without Ethernet frames, or an error of the system.
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

/// The shortest probe that is tried, bytes of IP.
const MIN_PROBE: u32 = 400;

fn device_of(all: &[Device], index: u32) -> Result<&Device, HostError> {
    let gone = || HostError::system("find the device of the route", std::io::ErrorKind::NotFound);
    all.iter().find(|device| device.index == index).ok_or_else(gone)
}

/// The node as configured, and with every other encapsulation and version that hosts support.
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

/// Sends probes in `node`'s encapsulation; for the configured one it finds the largest that arrives.
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
