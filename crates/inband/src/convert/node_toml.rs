//! The INT configuration of an ONOS device as `node.toml`.

use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};

use super::netcfg::Netcfg;

/// What identifies the device as a node.
pub(super) struct Identity {
    /// The device's name in ONOS; `None` if the file has only one device.
    pub(super) device: Option<String>,
    /// Its node id.
    pub(super) node_id: u32,
    /// The source address of its reports.
    pub(super) source_address: Option<IpAddr>,
}

/// Writes the configuration read from `file`; differences from SD-Fabric are added to `notes`.
pub(super) fn write(file: &str, netcfg: &Netcfg, identity: &Identity, notes: &mut Vec<String>) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let _ = head(&mut out, file, netcfg, identity);
    let _ = watchlist(&mut out, netcfg);
    let _ = report(&mut out, netcfg, identity);
    let _ = smart(&mut out, netcfg);
    remark(netcfg, identity, notes);
    out
}

fn head(out: &mut String, file: &str, netcfg: &Netcfg, identity: &Identity) -> std::fmt::Result {
    let device = identity.device.as_deref();
    let of_device = device.map_or_else(String::new, |device| format!(", {}", device.escape_debug()));
    writeln!(out, "# Converted by inband from {}{of_device}", file.escape_debug())?;
    writeln!(out, "[node]\nid = {}", identity.node_id)?;
    let ports = netcfg.devices.iter().filter(|other| Some(other.name.as_str()) == device);
    let mut ports: Vec<_> = ports.flat_map(|device| &device.ports).collect();
    ports.sort_unstable();
    ports.dedup();
    for port in ports {
        writeln!(out, "\n[[interface]]\nid = {port}\nedge = true")?;
    }
    writeln!(out, "\n[source]\nmode = \"xd\"\ninstructions = {INSTRUCTIONS}")
}

fn watchlist(out: &mut String, netcfg: &Netcfg) -> std::fmt::Result {
    netcfg.watch_subnets.iter().try_for_each(|subnet| writeln!(out, "\n[[watch]]\neither = \"{subnet}\""))
}

fn report(out: &mut String, netcfg: &Netcfg, identity: &Identity) -> std::fmt::Result {
    let collector = SocketAddr::new(netcfg.collector, netcfg.collector_port);
    writeln!(out, "\n[report]\ncollector = \"{collector}\"\nversion = \"0.5\"\nfilter = \"smart\"")?;
    match source_address(netcfg, identity) {
        Some(address) => writeln!(out, "source_address = \"{address}\""),
        None => Ok(()),
    }
}

fn smart(out: &mut String, netcfg: &Netcfg) -> std::fmt::Result {
    writeln!(out, "\n[smart]\nmin_hop_latency_change_ns = {}", netcfg.min_hop_latency_change_ns)?;
    for (queue, thresholds) in &netcfg.queues {
        writeln!(out, "\n[smart.queue.{queue}]\ntrigger_ns = {}", thresholds.trigger_ns)?;
        if let Some(reset_ns) = thresholds.reset_ns {
            writeln!(out, "reset_ns = {reset_ns}")?;
        }
    }
    Ok(())
}

/// The device's loopback address, if it has the collector's IP version.
fn source_address(netcfg: &Netcfg, identity: &Identity) -> Option<std::net::IpAddr> {
    identity.source_address.filter(|address| address.is_ipv4() == netcfg.collector.is_ipv4())
}

fn remark(netcfg: &Netcfg, identity: &Identity, notes: &mut Vec<String>) {
    if netcfg.watch_subnets.is_empty() {
        notes.push("watchSubnets is empty: there will be no flow reports and no drop reports".to_owned());
    }
    let least = netcfg.min_hop_latency_change_ns;
    if !least.is_power_of_two() {
        notes.push(format!(
            "minFlowHopLatencyChangeNs {least} counts as it is; SD-Fabric rounds it down to a power of two"
        ));
    }
    if source_address(netcfg, identity).is_none() {
        notes.push("no ipv4Loopback of the node is known; report.source_address has its default".to_owned());
    }
    notes.push(
        "SD-Fabric has the pipe of the egress port as hw_id; this node has hw_id 0 unless it is set"
            .to_owned(),
    );
}

/// What SD-Fabric reports about its own hop.
const INSTRUCTIONS: &str = "[\"level1-interfaces\", \"hop-latency\", \"queue-occupancy\", \"ingress-timestamp\", \
                            \"egress-timestamp\"]";
