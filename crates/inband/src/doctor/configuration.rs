//! A configuration file of any kind, checked against this machine.

mod collector;
mod host;
mod node;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;

use inband::config::ConfigFile;
use inband_server::NameList;
use toml::{Table, Value};

use super::finding::{Area, Finding};
use super::kernel::System;
use crate::failure::Failure;

/// What a file configures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Node,
    Host,
    Collector,
    Names,
}

/// Reads the file, and looks at what of this machine it needs.
///
/// # Errors
/// A mistake in the file, with its place.
pub(super) fn look(system: &System<'_>, path: &Path) -> Result<Vec<Finding>, Failure> {
    let file = ConfigFile::read(path)?;
    let kind = Kind::of(&file.parse::<Table>()?);
    let mut findings = vec![Finding::ok(
        Area::Configuration,
        "file",
        format!("{}: {}, nothing wrong with it by itself", path.display(), kind.describe()),
        kind.commands(),
    )];
    findings.extend(match kind {
        Kind::Node => node::look(system, path)?,
        Kind::Host => host::look(system, &file)?,
        Kind::Collector => collector::look(path)?,
        Kind::Names => names(&file)?,
    });
    Ok(findings)
}

impl Kind {
    /// Tells the kinds apart by their tables; what has none of them is a collector's, all of whose keys are optional.
    fn of(table: &Table) -> Self {
        let is_table = |key: &str| matches!(table.get(key), Some(Value::Table(_)));
        let is_list = |key: &str| matches!(table.get(key), Some(Value::Array(_)));
        match () {
            () if is_table("host") => Self::Host,
            () if is_table("node") => Self::Node,
            () if ["node", "host", "interface", "subnet"].into_iter().any(is_list) => Self::Names,
            () => Self::Collector,
        }
    }

    const fn describe(self) -> &'static str {
        match self {
            Self::Node => "a node (node.toml)",
            Self::Host => "a host (host.toml)",
            Self::Collector => "a collector (collector.toml)",
            Self::Names => "names (names.toml)",
        }
    }

    const fn commands(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["node"],
            Self::Host => &["host"],
            Self::Collector | Self::Names => &["collect"],
        }
    }
}

fn names(file: &ConfigFile) -> Result<Vec<Finding>, Failure> {
    let names: NameList = file.parse()?;
    let found = format!(
        "{} nodes, {} interfaces, {} hosts, {} subnets",
        names.nodes.len(),
        names.interfaces.len(),
        names.hosts.len(),
        names.subnets.len()
    );
    Ok(vec![Finding::ok(Area::Configuration, "names", found, Kind::Names.commands())])
}

/// Whether there is a route to where reports go.
fn route(collector: SocketAddr, commands: &[&'static str]) -> Finding {
    let finding = |found: String| Finding::ok(Area::Configuration, "report.collector", found, commands);
    let any: SocketAddr = match collector {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let source = UdpSocket::bind(any).and_then(|socket| {
        socket.connect(collector)?;
        socket.local_addr()
    });
    match source {
        Ok(_) if collector.ip().is_loopback() => finding(format!("{collector}, this machine itself"))
            .degraded("reports do not leave this machine", "report.collector = \"ADDRESS:32766\""),
        Ok(source) => finding(format!("{collector}, from {}", source.ip())),
        Err(error) => finding(format!("{collector}: {error}"))
            .missing("reports do not reach the collector", "ip route get ADDRESS"),
    }
}

/// The names of this machine's network devices.
fn devices(system: &System<'_>) -> Vec<String> {
    let entries = std::fs::read_dir(system.root.join("sys/class/net")).into_iter().flatten();
    let mut names: Vec<_> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests;
