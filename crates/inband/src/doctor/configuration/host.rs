//! What a host's configuration needs of this machine.

use std::net::IpAddr;

use inband::config::ConfigFile;
use inband_host::{Beside, FlowState, HostError, HostInt, HostSettings, MIN_SECRET_BYTES, probe, try_path};
use inband_node::config::EncapsulationKind;

use super::super::finding::{Area, Finding};
use super::super::kernel::System;
use super::machine::{devices, route};
use super::port::port_of_int;
use crate::failure::Failure;

const HOST: &[&str] = &["host"];
/// Most peers whose paths are tried.
const MAX_TRIED: usize = 4;
/// How a secret is made.
const NEW_KEY: &str = "openssl rand -hex 32 | sudo tee /etc/inband/key";
/// Least segment size, bytes of payload, that INT must leave.
const MIN_SEGMENT: u64 = 512;

pub(super) fn look(system: &System<'_>, file: &ConfigFile) -> Result<Vec<Finding>, Failure> {
    let settings: HostSettings = file.parse()?;
    settings.check().map_err(|error| match error.key() {
        Some(key) => Failure::from(file.mistake_at(key, &error.to_string())),
        None => Failure::usage(error),
    })?;
    let mut findings = listed_devices(system, &settings);
    findings.push(lists(&settings));
    findings.extend(settings.report.sessions().iter().map(|session| route(session.collector, HOST)));
    if settings.encapsulation.kind() != EncapsulationKind::Dscp {
        findings.push(port_of_int(system, settings.encapsulation.udp_port(), HOST));
    }
    findings.push(keys(&settings));
    findings.push(pins(&settings));
    findings.extend(paths(&settings));
    Ok(findings)
}

fn found(name: impl Into<String>, found: impl Into<String>) -> Finding {
    Finding::ok(Area::Configuration, name, found, HOST)
}

/// The devices that the file selects, their room for INT, and what else runs on them.
fn listed_devices(system: &System<'_>, settings: &HostSettings) -> Vec<Finding> {
    let there = devices(system);
    let mut findings = Vec::new();
    for pattern in &settings.host.devices {
        let meant: Vec<_> = there.iter().filter(|name| probe::is_meant(pattern, name)).collect();
        if meant.is_empty() {
            let finding = found(format!("host.devices {pattern}"), "no device of this name");
            findings.push(finding.degraded("INT is on no device until one comes", "ip link"));
        }
        findings.extend(meant.into_iter().map(|name| device(system, settings, name)));
    }
    findings
}

fn device(system: &System<'_>, settings: &HostSettings, name: &str) -> Finding {
    let mtu = system.number(&format!("sys/class/net/{name}/mtu")).unwrap_or_default();
    let is_ethernet = system.number(&format!("sys/class/net/{name}/type")) == Some(1);
    let room = HostInt::room_for(&settings.node(Vec::new()), settings.host.room_hops);
    let beside = probe::programs_on(name);
    let others = match &beside {
        Ok(programs) => others(programs),
        Err(_) => "what else is on it: not allowed".to_owned(),
    };
    let finding = found(format!("host.devices {name}"), format!("mtu {mtu}, INT takes {room}; {others}"));
    match () {
        () if !is_ethernet => {
            finding.missing("its frames are not those of Ethernet", "another device in host.devices")
        }
        () if mtu < u64::from(room) + MIN_SEGMENT => finding.degraded(
            "INT leaves less than 512 bytes of a segment",
            "fewer source.instructions, or a smaller host.room_hops",
        ),
        () => finding,
    }
}

fn others(programs: &[Beside]) -> String {
    let others = programs.iter().filter(|program| !program.is_ours);
    let names: Vec<_> = others.map(|program| format!("{} `{}`", program.hook.name(), program.name)).collect();
    if names.is_empty() { "nothing else is on it".to_owned() } else { format!("beside {}", names.join(", ")) }
}

fn lists(settings: &HostSettings) -> Finding {
    let (peers, entries) = (settings.peers.len(), settings.watchlist.len());
    let finding = found("peers and watchlist", format!("{peers} [[peer]], {entries} [[watch]]"));
    match (peers, entries) {
        (0, _) => finding.degraded("INT is sent to nobody", "[[peer]]"),
        (_, 0) => finding.degraded("INT is started in nothing", "[[watch]]"),
        _ => finding,
    }
}

fn keys(settings: &HostSettings) -> Finding {
    match probe::keys(settings) {
        Ok(0) => {
            found("host.keys", "none").degraded("whoever answers from a peer's address is believed", NEW_KEY)
        }
        Ok(count) => {
            let finding = found("host.keys", format!("{count}, readable"));
            match settings.check_keys() {
                Ok(short) if !short.is_empty() => finding.degraded(
                    format!("secrets of fewer than {MIN_SECRET_BYTES} bytes may be guessed"),
                    NEW_KEY,
                ),
                _ => finding,
            }
        }
        Err(error) => found("host.keys", in_full(&error)).missing("the agent does not start", ""),
    }
}

fn pins(settings: &HostSettings) -> Finding {
    let place = settings.host.pins.display().to_string();
    match probe::pins(settings) {
        Ok(()) => found("host.pins", format!("{place}, a BPF file system")),
        Err(error) => found("host.pins", format!("{place}: {error}")).degraded(
            "sinks do not outlive a killed agent and its guard",
            "sudo mount -t bpf bpf /sys/fs/bpf",
        ),
    }
}

/// The paths to peers given as single addresses.
fn paths(settings: &HostSettings) -> Vec<Finding> {
    let addresses = settings.peers.iter().filter_map(|peer| {
        let address = peer.prefix.address();
        let whole = if address.is_ipv4() { 32 } else { 128 };
        (peer.prefix.length() == whole).then_some(address)
    });
    let mut findings: Vec<_> = addresses.take(MAX_TRIED).map(|address| path(settings, address)).collect();
    if findings.is_empty() {
        findings.push(found("path to a peer", "not tried: inband host probe ADDRESS tries one"));
    }
    findings
}

fn path(settings: &HostSettings, address: IpAddr) -> Finding {
    let name = format!("path to {address}");
    let fix = format!("inband host probe {address}");
    match try_path(settings, address) {
        Ok(trial) if trial.state == FlowState::Proven => {
            let largest = trial.configured().and_then(|configured| configured.largest).unwrap_or_default();
            let finding = found(name, format!("INT is removed, up to {largest} bytes"));
            match largest < trial.mtu {
                true => finding.degraded(
                    format!(
                        "larger packets up to the device's MTU of {} bytes do not arrive with INT",
                        trial.mtu
                    ),
                    fix,
                ),
                false => finding,
            }
        }
        Ok(trial) => found(name, trial.state.name()).degraded(trial.state.meaning(), fix),
        Err(error) => found(name, in_full(&error)).degraded("it could not be tried", fix),
    }
}

fn in_full(error: &HostError) -> String {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    causes.map(|cause| cause.to_string()).collect::<Vec<_>>().join(": ")
}
