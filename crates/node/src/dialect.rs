//! Validation of settings against the dialect of a domain.

use inband_wire::int::{Dialect, Version};

use crate::config::{EncapsulationKind, Mode, NodeConfig};
use crate::error::ConfigError;

/// Checks that the dialect supports the version, the encapsulation and the mode.
///
/// # Errors
/// The first setting that the dialect does not support.
pub(crate) fn check(config: &NodeConfig) -> Result<(), ConfigError> {
    let Some(dialect) = config.encapsulation.dialect() else { return Ok(()) };
    let refuse = |key, found: &str, supported: &[&str]| {
        let supported: Vec<_> = supported.iter().map(|name| format!("\"{name}\"")).collect();
        let supported = format!("{} with dialect = \"{}\"", supported.join(", "), dialect.name());
        Err(ConfigError::unsupported(key, found, &supported))
    };
    let version = config.int_version().wire();
    if !dialect.versions().contains(&version) {
        let versions: Vec<_> = dialect.versions().iter().copied().map(Version::name).collect();
        return refuse("node.int_version", version.name(), &versions);
    }
    let kind = match dialect {
        Dialect::Geant | Dialect::Onos => EncapsulationKind::Dscp,
        Dialect::Cablelabs => EncapsulationKind::Udp,
    };
    if config.encapsulation.kind() != kind {
        return refuse("encapsulation.kind", config.encapsulation.kind().name(), &[kind.name()]);
    }
    if config.source.mode == Mode::Mx {
        return refuse("source.mode", "mx", &["md", "xd"]);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
