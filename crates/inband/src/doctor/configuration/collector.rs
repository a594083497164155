//! What a collector's configuration needs of this machine.

use std::net::{TcpListener, UdpSocket};
use std::path::Path;

use super::super::collector::disk;
use super::super::finding::{Area, Finding};
use super::machine::listens;
use crate::collect::{read_checked, read_names};
use crate::failure::Failure;

const COLLECT: &[&str] = &["collect"];

pub(super) fn look(path: &Path) -> Result<Vec<Finding>, Failure> {
    let settings = read_checked(path)?;
    settings.api.check().map_err(|error| Failure::Usage(error.into()))?;
    let mut findings = Vec::new();
    if settings.receive.listen.is_empty() {
        let finding = Finding::ok(Area::Configuration, "receive.listen", "no address", COLLECT);
        findings.push(finding.missing("reports have no way in", "receive.listen = \"127.0.0.1:32766\""));
    }
    for address in &settings.receive.listen {
        findings.push(listens(
            "receive.listen",
            &address.to_string(),
            UdpSocket::bind(address).map(drop),
            COLLECT,
        ));
    }
    let api = settings.api.listen;
    findings.push(listens("api.listen", &api.to_string(), TcpListener::bind(api).map(drop), COLLECT));
    findings.push(Finding { area: Area::Configuration, ..disk(&settings.store.path) });
    read_names(&settings.names.file)?;
    Ok(findings)
}
