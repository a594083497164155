//! How does a program get a node out of its `node.toml`? Every mistake names its place in the file.

use std::path::Path;

use inband::config::{ConfigError, ConfigFile};
use inband_node::{Node, NodeConfig};
use inband_wire::int::Domain;

use crate::failure::Failure;

/// Reads the file and makes a node of it.
pub(crate) fn read_node(path: &Path) -> Result<(NodeConfig, Node), Failure> {
    let (file, config) = read(path)?;
    let node = Node::new(&config).map_err(|error| mistake(&file, &error))?;
    Ok((config, node))
}

/// Reads the file with the domains it describes; the configuration may be one that this engine does not run.
pub(crate) fn read_domains(path: &Path) -> Result<(NodeConfig, Vec<Domain>), Failure> {
    let (file, config) = read(path)?;
    let domains = config.wire_domains().map_err(|error| mistake(&file, &error))?;
    Ok((config, domains))
}

fn read(path: &Path) -> Result<(ConfigFile, NodeConfig), ConfigError> {
    let file = ConfigFile::read(path)?;
    let config = file.parse()?;
    Ok((file, config))
}

fn mistake(file: &ConfigFile, error: &inband_node::ConfigError) -> ConfigError {
    file.mistake_at(error.key(), &error.to_string())
}
