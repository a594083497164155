//! What a topology needs of this machine.

use std::net::TcpListener;
use std::path::Path;

use super::super::finding::{Area, Finding};
use super::machine::listens;
use crate::failure::Failure;
use crate::lab;

const LAB: &[&str] = &["lab"];

pub(super) fn look(path: &Path) -> Result<Vec<Finding>, Failure> {
    let lab = lab::read(path)?;
    let topology = &lab.topology;
    let found = format!(
        "`{}`: {} switches, {} hosts, {} links",
        lab.plan.name,
        topology.switches.len(),
        topology.hosts.len(),
        topology.links.len()
    );
    let api = lab.plan.api;
    Ok(vec![
        Finding::ok(Area::Configuration, "lab", found, LAB),
        listens("collector.api", &api.to_string(), TcpListener::bind(api).map(drop), LAB),
    ])
}
