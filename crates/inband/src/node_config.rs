//! Builds a node from its `node.toml`; every error names its place in the file.

use std::path::Path;

use inband::config::{ConfigError, ConfigFile};
use inband_node::{DropReasons, Node, NodeConfig};
use inband_wire::int::Domain;

use crate::failure::Failure;

/// Reads the file and builds the node.
pub(crate) fn read_node(path: &Path) -> Result<(NodeConfig, Node), Failure> {
    let (file, config) = read(path)?;
    let node = Node::new(&config).map_err(|error| mistake(&file, &error))?;
    Ok((config, node))
}

/// The parts of a node's configuration, without a running node.
pub(crate) struct NodeParts {
    pub(crate) config: NodeConfig,
    pub(crate) domains: Vec<Domain>,
    pub(crate) drop_reasons: DropReasons,
}

/// Reads the file; the configuration may be one that this engine does not run.
pub(crate) fn read_parts(path: &Path) -> Result<NodeParts, Failure> {
    let (file, config) = read(path)?;
    let domains = config.wire_domains().map_err(|error| mistake(&file, &error))?;
    let drop_reasons = DropReasons::new(&config.drop_reasons).map_err(|error| mistake(&file, &error))?;
    Ok(NodeParts { config, domains, drop_reasons })
}

fn read(path: &Path) -> Result<(ConfigFile, NodeConfig), ConfigError> {
    let file = ConfigFile::read(path)?;
    let config = file.parse()?;
    Ok((file, config))
}

fn mistake(file: &ConfigFile, error: &inband_node::ConfigError) -> ConfigError {
    file.mistake_at(error.key(), &error.to_string())
}
