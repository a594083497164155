//! What a collector's configuration needs of this machine.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;

use super::super::collector::disk;
use super::super::finding::{Area, Finding};
use crate::collect::{read_checked, read_names};
use crate::failure::Failure;

const COLLECT: &[&str] = &["collect"];

pub(super) fn look(path: &Path) -> Result<Vec<Finding>, Failure> {
    let settings = read_checked(path)?;
    let mut findings = Vec::new();
    for address in &settings.receive.listen {
        findings.push(listens("receive.listen", &address.to_string(), UdpSocket::bind(address).map(drop)));
    }
    let api = settings.api.listen;
    findings.push(listens("api.listen", &api.to_string(), TcpListener::bind(api).map(drop)));
    findings.push(Finding { area: Area::Configuration, ..disk(&settings.store.path) });
    read_names(&settings.names.file)?;
    Ok(findings)
}

fn listens(name: &str, address: &str, outcome: std::io::Result<()>) -> Finding {
    let finding =
        |found: &str| Finding::ok(Area::Configuration, name, format!("{address}, {found}"), COLLECT);
    match outcome {
        Ok(()) => finding("free"),
        Err(error) if error.kind() == ErrorKind::AddrInUse => finding("in use")
            .degraded("another process has it, unless it is yours that runs", "sudo ss -lntup"),
        Err(error) => finding(&error.to_string()).missing("it cannot be listened on", "ip addr"),
    }
}
