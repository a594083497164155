//! What configurations of several kinds need of this machine.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use super::super::finding::{Area, Finding};
use super::super::kernel::System;

/// Whether there is a route to the collector.
pub(super) fn route(collector: SocketAddr, commands: &[&'static str]) -> Finding {
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

/// Whether an address can be listened on: `outcome` of an attempt.
pub(super) fn listens(
    name: &str,
    address: &str,
    outcome: io::Result<()>,
    commands: &[&'static str],
) -> Finding {
    let finding =
        |found: &str| Finding::ok(Area::Configuration, name, format!("{address}, {found}"), commands);
    match outcome {
        Ok(()) => finding("free"),
        Err(error) if error.kind() == ErrorKind::AddrInUse => finding("in use")
            .degraded("another process has it, unless it is yours that runs", "sudo ss -lntup"),
        Err(error) => finding(&error.to_string()).missing("it cannot be listened on", "ip addr"),
    }
}

/// The names of this machine's network devices.
pub(super) fn devices(system: &System<'_>) -> Vec<String> {
    let entries = std::fs::read_dir(system.root.join("sys/class/net")).into_iter().flatten();
    let mut names: Vec<_> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}
