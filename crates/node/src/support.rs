//! Settings supported by this engine.

use std::collections::HashSet;

use inband_wire::report::group::MAX_HW_ID;

use crate::config::{EncapsulationKind, Icmp, IntVersion, Layer, NodeConfig, WatchEntry};
use crate::earlier;
use crate::error::ConfigError;
use crate::{dialect, report_version, smart};

/// Minimum path MTU to a collector.
const MIN_PATH_MTU: u16 = 256;
/// Maximum bytes of a packet a report may keep, so that it fits a UDP datagram with room to spare.
const MAX_TRUNCATE: u16 = 9216;

/// Checks ranges and rejects settings this engine does not support.
///
/// # Errors
/// The first setting that is not supported.
pub(crate) fn check(config: &NodeConfig) -> Result<(), ConfigError> {
    ranges(config)?;
    sessions(config)?;
    smart::check(&config.smart)?;
    config.offline.check()?;
    config.watchlist.iter().try_for_each(WatchEntry::check)?;
    dialect::check(config)?;
    earlier::check(config)?;
    icmp(config)?;
    layer(config)?;
    if !config.probes.is_empty() && config.int_version() != IntVersion::V2_1 {
        let key = "probe".to_owned();
        let (found, supported) =
            ("[[probe]]".to_owned(), "none, where node.int_version is not \"2.1\"".to_owned());
        return Err(ConfigError::Unsupported { key, found, supported });
    }
    report_version::check(config, &config.report)
}

/// Checks each report session separately, then for conflicts.
///
/// # Errors
/// The first unsupported setting of the first such session; two sessions with indistinguishable sequence
/// numbers.
fn sessions(config: &NodeConfig) -> Result<(), ConfigError> {
    let report = &config.report;
    if report.dscp > 0x3f {
        return Err(ConfigError::out_of_range(
            "report.dscp",
            format!("{:#04x}", report.dscp),
            "0x00 to 0x3f",
        ));
    }
    if report.port_entropy && report.group.get() > 1 {
        return Err(ConfigError::out_of_range("report.port_entropy", true, "false where group is above 1"));
    }
    if report.sessions.is_empty() {
        return Ok(());
    }
    let mut streams = HashSet::new();
    for report in report.sessions() {
        if !streams.insert((report.collector, report.hw_id)) {
            let value = format!("collector {} with hw_id {}", report.collector, report.hw_id);
            return Err(ConfigError::Twice { key: "report.session".to_owned(), value });
        }
        check(&NodeConfig { report, ..config.clone() })?;
    }
    Ok(())
}

/// INT in the inner layer is behind TCP or UDP: the other encapsulations belong to the tunnel itself.
fn layer(config: &NodeConfig) -> Result<(), ConfigError> {
    if config.encapsulation.layer == Layer::Outer {
        return Ok(());
    }
    let kind = match config.encapsulation.kind() {
        EncapsulationKind::Gre => Some("gre"),
        EncapsulationKind::VxlanGpe => Some("vxlan-gpe"),
        EncapsulationKind::Geneve => Some("geneve"),
        _ => None,
    };
    let kinds = "\"dscp\", \"udp-port\", \"probe-marker\" and \"udp\" with layer = \"inner\"";
    supported("encapsulation.kind", kind, kinds)?;
    let inner = (config.int_version() != IntVersion::V2_1).then_some("inner");
    supported("encapsulation.layer", inner, "\"outer\", where node.int_version is not \"2.1\"")
}

fn icmp(config: &NodeConfig) -> Result<(), ConfigError> {
    let per_second = config.mtu.icmp_per_second;
    if !(1..=MAX_ICMP_PER_SECOND).contains(&per_second) {
        return Err(ConfigError::out_of_range("mtu.icmp_per_second", per_second, "1 to 1000000"));
    }
    let icmp = match config.mtu.icmp {
        Icmp::Off => None,
        Icmp::Conservative => Some("conservative"),
        Icmp::Own => Some("own"),
    };
    let icmp = icmp.filter(|_| config.int_version() != IntVersion::V2_1);
    supported("mtu.icmp", icmp, "\"off\", where node.int_version is not \"2.1\"")
}

const MAX_ICMP_PER_SECOND: u32 = 1_000_000;

fn ranges(config: &NodeConfig) -> Result<(), ConfigError> {
    let encapsulation = &config.encapsulation;
    let dscp = |key, value: u8, least: u8| {
        if (least..=0x3f).contains(&value) {
            return Ok(());
        }
        Err(ConfigError::out_of_range(key, format!("{value:#04x}"), format!("{least:#04x} to 0x3f")))
    };
    let mark = encapsulation.mark();
    dscp("encapsulation.dscp", mark.value, 0)?;
    dscp("encapsulation.dscp_mask", mark.mask, 1)?;
    if mark.value & mark.mask == 0 {
        // Removing the mark clears its bits, so a mark of zeros cannot be removed.
        let found = format!("{:#04x} under the mask {:#04x}", mark.value, mark.mask);
        return Err(ConfigError::out_of_range(
            "encapsulation.dscp",
            found,
            "at least one bit under its mask",
        ));
    }
    if config.report.hw_id > MAX_HW_ID {
        return Err(ConfigError::out_of_range("report.hw_id", config.report.hw_id, "0 to 63"));
    }
    if config.report.truncate > MAX_TRUNCATE {
        let expected = format!("0 to {MAX_TRUNCATE} bytes");
        return Err(ConfigError::out_of_range("report.truncate", config.report.truncate, expected));
    }
    if config.report.path_mtu < MIN_PATH_MTU {
        let expected = format!("{MIN_PATH_MTU} to 65535 bytes");
        return Err(ConfigError::out_of_range("report.path_mtu", config.report.path_mtu, expected));
    }
    let collector = config.report.collector;
    if collector.port() == 0 {
        let expected = "an address with a port from 1 to 65535";
        return Err(ConfigError::out_of_range("report.collector", collector, expected));
    }
    if collector.is_ipv4() != config.report.source().is_ipv4() {
        let expected = "an address of the collector's IP version";
        return Err(ConfigError::out_of_range("report.source_address", config.report.source(), expected));
    }
    Ok(())
}

fn supported(key: &str, found: Option<&str>, supported: &str) -> Result<(), ConfigError> {
    match found {
        Some(found) => Err(ConfigError::unsupported(key, found, supported)),
        None => Ok(()),
    }
}
