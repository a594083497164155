//! What a node's configuration needs of this machine.

use std::path::Path;

use super::super::finding::{Area, Finding};
use super::super::kernel::System;
use super::machine::{devices, route};
use crate::failure::Failure;
use crate::node_config::read_node;

const NODE: &[&str] = &["node"];

pub(super) fn look(system: &System<'_>, path: &Path) -> Result<Vec<Finding>, Failure> {
    let (config, _) = read_node(path)?;
    if config.interfaces.len() > 1 && config.interfaces.iter().all(|interface| interface.device.is_some()) {
        // It is for `inband switch`.
        inband_switch::check(&config)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    }
    let there = devices(system);
    let mut findings: Vec<_> =
        config.report.sessions().iter().map(|session| route(session.collector, NODE)).collect();
    for interface in &config.interfaces {
        let Some(device) = &interface.device else { continue };
        let name = format!("interface {}", interface.id);
        let finding = Finding::ok(Area::Configuration, name, device, NODE);
        findings.push(match there.contains(device) {
            true => finding,
            false => finding.degraded("there is no device of this name here", "ip link"),
        });
    }
    if config.watchlist.is_empty() {
        let finding = Finding::ok(Area::Configuration, "watch", "no entry", NODE);
        findings.push(finding.degraded("a source starts INT in nothing", "[[watch]]"));
    }
    Ok(findings)
}
