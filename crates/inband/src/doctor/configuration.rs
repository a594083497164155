//! A configuration file of any kind, checked against this machine.

mod collector;
mod host;
mod lab;
mod machine;
mod node;
mod port;

use std::path::Path;

use inband::config::ConfigFile;
use toml::{Table, Value};

use super::finding::{Area, Finding};
use super::kernel::System;
use crate::collect::name_list;
use crate::failure::Failure;

/// What a file configures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Node,
    Host,
    Collector,
    Names,
    Lab,
}

/// Reads the file, and checks what it needs of this machine.
///
/// # Errors
/// An error in the file, with its place.
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
        Kind::Lab => lab::look(path)?,
    });
    Ok(findings)
}

impl Kind {
    /// Recognises the kind by its tables; a file with none of them is a collector's, whose keys are all
    /// optional.
    fn of(table: &Table) -> Self {
        let is_table = |key: &str| matches!(table.get(key), Some(Value::Table(_)));
        let is_list = |key: &str| matches!(table.get(key), Some(Value::Array(_)));
        match () {
            () if is_table("host") => Self::Host,
            () if is_table("node") => Self::Node,
            () if ["switch", "link"].into_iter().any(is_list) => Self::Lab,
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
            Self::Lab => "the topology of a lab",
        }
    }

    const fn commands(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["node"],
            Self::Host => &["host"],
            Self::Collector | Self::Names => &["collect"],
            Self::Lab => &["lab"],
        }
    }
}

fn names(file: &ConfigFile) -> Result<Vec<Finding>, Failure> {
    let names = name_list(file)?;
    let found = format!(
        "{} nodes, {} interfaces, {} hosts, {} subnets",
        names.nodes.len(),
        names.interfaces.len(),
        names.hosts.len(),
        names.subnets.len()
    );
    Ok(vec![Finding::ok(Area::Configuration, "names", found, Kind::Names.commands())])
}

#[cfg(test)]
mod tests;
