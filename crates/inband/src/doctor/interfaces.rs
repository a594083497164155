//! What the interfaces do to packets before and after INT.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use super::finding::{Area, Finding};
use super::kernel::System;
use super::sys::features::features;

const LIVE: &[&str] = &["host", "switch"];
const CLASSES: &str = "sys/class/net";

/// The features of a device, as `ethtool -k` names them, and whether they are on.
type Features = BTreeMap<String, bool>;

/// The features that are shown, with their short names: the offloads that concern INT on a host.
const TOLD: [(&str, &str); 4] = [
    ("tx-tcp-segmentation", "tso"),
    ("tx-generic-segmentation", "gso"),
    ("rx-gro", "gro"),
    ("tx-checksum-ip-generic", "tx-checksum"),
];
/// What must be off: the device merges packets, INT included.
const MERGING: [(&str, &str); 2] = [("rx-lro", "lro"), ("rx-gro-hw", "rx-gro-hw")];
/// A packet with the minimum MTU of IPv6, plus headers, two hops and all instructions of a node.
const MIN_MTU: u64 = 1280 + 16 + 2 * 52;

/// All interfaces except the loopback, or only the named one.
///
/// # Errors
/// There is no interface of this name.
pub(super) fn look(system: &System<'_>, asked: Option<&str>) -> Result<Vec<Finding>, String> {
    let mut names: Vec<_> = fs::read_dir(system.root.join(CLASSES))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    if let Some(asked) = asked {
        if !names.iter().any(|name| name == asked) {
            return Err(format!("there is no interface `{asked}`, only {}", names.join(", ")));
        }
        names.retain(|name| name == asked);
    } else {
        names.retain(|name| name != "lo");
    }
    Ok(names.iter().map(|name| judge(system, name, features(name), asked.is_some())).collect())
}

fn judge(system: &System<'_>, name: &str, features: io::Result<Features>, is_asked: bool) -> Finding {
    let file = |file: &str| system.line(&format!("{CLASSES}/{name}/{file}"));
    let state = file("operstate").unwrap_or_else(|| "unknown".to_owned());
    let mtu = system.number(&format!("{CLASSES}/{name}/mtu")).unwrap_or_default();
    let speed = file("speed").and_then(|speed| speed.parse::<u64>().ok()).filter(|speed| *speed > 0);
    let speed = speed.map(|speed| format!("{speed} Mb/s"));
    let driver = fs::read_link(system.root.join(format!("{CLASSES}/{name}/device/driver"))).ok();
    let driver = driver.and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
    let mut found = vec![state.clone(), format!("mtu {mtu}")];
    found.extend(speed);
    found.extend(driver);
    if let Ok(features) = &features {
        found.push(told(features));
    }
    let mut finding = Finding::ok(Area::Interfaces, name, found.join(", "), LIVE);
    if mtu < MIN_MTU {
        let why = format!("with less than {MIN_MTU} bytes many packets have no room for INT");
        finding = finding.degraded(why, format!("sudo ip link set dev {name} mtu 1500"));
    }
    if is_asked && state == "down" {
        finding = finding.missing("nothing goes through it", format!("sudo ip link set dev {name} up"));
    }
    merging(finding, name, &features.unwrap_or_default())
}

fn told(features: &Features) -> String {
    let with = |state: bool| {
        let names = TOLD.iter().chain(&MERGING).filter(|(name, _)| features.get(*name) == Some(&state));
        names.map(|(_, short)| *short).collect::<Vec<_>>().join(" ")
    };
    match (with(true), with(false)) {
        (on, off) if off.is_empty() => format!("on: {on}"),
        (on, off) if on.is_empty() => format!("off: {off}"),
        (on, off) => format!("on: {on}, off: {off}"),
    }
}

fn merging(finding: Finding, name: &str, features: &Features) -> Finding {
    MERGING.iter().filter(|(feature, _)| features.get(*feature) == Some(&true)).fold(
        finding,
        |finding, (_, short)| {
            finding.degraded(
                format!("{short} is on: the device may merge packets with INT before the sink sees them"),
                format!("sudo ethtool -K {name} {short} off"),
            )
        },
    )
}

#[cfg(test)]
mod tests;
