//! Validation of the configuration against the version a source writes.

use inband_wire::int::Version;

use crate::config::{EncapsulationKind, Mode, NodeConfig, Replicate};
use crate::error::ConfigError;

use super::instructions;

/// Checks that a source can write `node.int_version` with the rest of the configuration.
///
/// Transit hop and sink read every version, and XD writes none, so only MD and MX are checked.
///
/// # Errors
/// The first setting that the version does not support.
pub(crate) fn check(config: &NodeConfig) -> Result<(), ConfigError> {
    let version = config.int_version().wire();
    if !version.is_before_2() && config.source.replicate != Replicate::None {
        return Err(unsupported(
            version,
            "source.replicate",
            config.source.replicate.name(),
            "\"none\"",
            "2.0 has no Rep",
        ));
    }
    // Device metadata is named by the instructions of 2.1.
    instructions::check_2_1("offline.unavailable", &config.offline.unavailable)?;
    if !version.is_before_2() || config.source.mode == Mode::Xd {
        return instructions::check_2_1("source.instructions", &config.source.instructions);
    }
    check_source(config, version)?;
    let kinds = encapsulations(version);
    if !kinds.contains(&config.encapsulation.kind()) {
        let names: Vec<_> = kinds.iter().map(|kind| format!("\"{}\"", kind.name())).collect();
        let found = config.encapsulation.kind().name();
        return Err(unsupported(version, "encapsulation.kind", found, &names.join(", "), ""));
    }
    instructions::bitmap(version, &config.source.instructions).map(drop)
}

/// The encapsulations a version supports.
pub(crate) const fn encapsulations(version: Version) -> &'static [EncapsulationKind] {
    use EncapsulationKind::{Dscp, Geneve, Gre, ProbeMarker, Udp, UdpPort, VxlanGpe};
    match version {
        Version::V2_1 => &[Dscp, UdpPort, Udp, ProbeMarker, Gre, VxlanGpe, Geneve],
        Version::V1_0 => &[Dscp, ProbeMarker, VxlanGpe, Geneve],
        Version::V0_5 => &[Dscp, UdpPort, VxlanGpe, Geneve],
        Version::HostInt0_5 => &[Dscp, Udp],
        Version::V2016 => &[VxlanGpe, Geneve],
    }
}

fn check_source(config: &NodeConfig, version: Version) -> Result<(), ConfigError> {
    let source = &config.source;
    let refuse =
        |key, found: &str, supported, reason| Err(unsupported(version, key, found, supported, reason));
    if source.mode == Mode::Mx {
        return refuse("source.mode", "mx", "\"md\", \"xd\"", "MX came with 2.1");
    }
    if source.discard {
        return refuse("source.discard", "true", "false", "D came with 2.0");
    }
    if source.clone > 0 {
        return refuse("source.clone", &source.clone.to_string(), "0", "D, which ends a copy, came with 2.0");
    }
    if source.domain.is_some() {
        return refuse("source.domain", "domain-specific", "none", "such instructions came with 2.0");
    }
    if version == Version::HostInt0_5 && !source.own_metadata {
        return refuse("source.own_metadata", "false", "true", "the source's hop is always there");
    }
    Ok(())
}

/// `reason` is an explanation in parentheses; it may be empty.
fn unsupported(version: Version, key: &str, found: &str, supported: &str, reason: &str) -> ConfigError {
    let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    let supported = format!("{supported} with int_version = \"{}\"{reason}", version.name());
    ConfigError::unsupported(key, found, &supported)
}

#[cfg(test)]
mod tests;
