//! The INT settings in an ONOS network configuration.

use std::collections::BTreeMap;
use std::net::IpAddr;

use anyhow::{Context, Error, anyhow, bail};
use inband_node::config::Prefix;
use serde_json::{Map, Value};

/// The INT application's configuration, and the devices it is for.
#[derive(Debug)]
pub(super) struct Netcfg {
    pub(super) collector: IpAddr,
    pub(super) collector_port: u16,
    pub(super) min_hop_latency_change_ns: u32,
    pub(super) watch_subnets: Vec<String>,
    pub(super) queues: BTreeMap<u8, Thresholds>,
    pub(super) devices: Vec<Device>,
}

/// The thresholds at which a queue reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thresholds {
    pub(super) trigger_ns: u32,
    pub(super) reset_ns: Option<u32>,
}

/// A switch.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) name: String,
    pub(super) node_sid: Option<u32>,
    pub(super) loopback: Option<IpAddr>,
    /// Ports that are configured, and so face hosts or routers.
    pub(super) ports: Vec<u16>,
}

/// The application that is configured.
const APP: &str = "org.stratumproject.fabric.tna.inbandtelemetry";
/// SD-Fabric's default when the key is missing.
const DEFAULT_CHANGE_NS: u64 = 256;

impl Netcfg {
    /// Reads a whole network configuration, or the application's block alone; what is left out is added to
    /// `notes`.
    ///
    /// # Errors
    /// The text is not JSON, has no such block, lacks a required key, or has a value of the wrong kind.
    pub(super) fn parse(text: &str, notes: &mut Vec<String>) -> Result<Self, Error> {
        let root: Value = serde_json::from_str(text)?;
        let block = match root.get("apps") {
            Some(apps) => apps.get(APP).ok_or_else(|| anyhow!("apps has no {APP}"))?,
            None => root.get(APP).unwrap_or(&root),
        };
        let report = block.get("report").and_then(Value::as_object);
        let report = report.ok_or_else(|| anyhow!("no `report` of {APP}"))?;
        name_unknown(report, notes);
        name_others(&root, notes);
        Ok(Self {
            collector: required(report, "collectorIp")?
                .as_str()
                .and_then(|ip| ip.parse().ok())
                .ok_or_else(|| anyhow!("report.collectorIp is no IP address"))?,
            collector_port: integer(required(report, "collectorPort")?, "collectorPort")?,
            min_hop_latency_change_ns: integer(
                report.get("minFlowHopLatencyChangeNs").unwrap_or(&Value::from(DEFAULT_CHANGE_NS)),
                "minFlowHopLatencyChangeNs",
            )?,
            watch_subnets: watch_subnets(report)?,
            queues: queues(report, notes)?,
            devices: devices(&root, notes),
        })
    }
}

fn required<'a>(report: &'a Map<String, Value>, key: &str) -> Result<&'a Value, Error> {
    report.get(key).ok_or_else(|| anyhow!("report.{key} is missing"))
}

fn integer<T: TryFrom<u64>>(value: &Value, key: &str) -> Result<T, Error> {
    let number = value.as_u64().and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| anyhow!("report.{key} is {value}, which is no number in its range"))
}

fn watch_subnets(report: &Map<String, Value>) -> Result<Vec<String>, Error> {
    let Some(subnets) = report.get("watchSubnets") else { return Ok(Vec::new()) };
    let subnets = subnets.as_array().ok_or_else(|| anyhow!("report.watchSubnets is no list"))?;
    let prefix = |subnet: &Value| {
        let text = subnet.as_str().ok_or_else(|| anyhow!("report.watchSubnets: {subnet} is no prefix"))?;
        let prefix: Prefix = text.parse().map_err(|error| anyhow!("report.watchSubnets: {error}"))?;
        Ok(format!("{}/{}", prefix.address(), prefix.length()))
    };
    subnets.iter().map(prefix).collect()
}

fn queues(report: &Map<String, Value>, notes: &mut Vec<String>) -> Result<BTreeMap<u8, Thresholds>, Error> {
    let key = "queueReportLatencyThresholds";
    let Some(all) = report.get(key) else { return Ok(BTreeMap::new()) };
    let all = all.as_object().ok_or_else(|| anyhow!("report.{key} is no map"))?;
    let mut queues = BTreeMap::new();
    for (queue, thresholds) in all {
        let id: u8 = queue.parse().ok().with_context(|| format!("report.{key}: `{queue}` is no queue id"))?;
        let at = format!("{key}.{queue}");
        let Some(trigger) = thresholds.get("triggerNs") else { bail!("report.{at}.triggerNs is missing") };
        let reset = thresholds.get("resetNs").filter(|reset| !reset.is_null());
        let known = ["triggerNs", "resetNs"];
        let others = thresholds.as_object().into_iter().flat_map(Map::keys);
        notes
            .extend(others.filter(|other| !known.contains(&other.as_str())).map(|other| unknown(&at, other)));
        queues.insert(
            id,
            Thresholds {
                trigger_ns: integer(trigger, &format!("{at}.triggerNs"))?,
                reset_ns: reset.map(|reset| integer(reset, &format!("{at}.resetNs"))).transpose()?,
            },
        );
    }
    Ok(queues)
}

fn devices(root: &Value, notes: &mut Vec<String>) -> Vec<Device> {
    let all = root.get("devices").and_then(Value::as_object).into_iter().flatten();
    let ports: Vec<&String> =
        root.get("ports").and_then(Value::as_object).into_iter().flat_map(Map::keys).collect();
    all.map(|(name, device)| {
        let routing = device.get("segmentrouting");
        let sid = routing.and_then(|routing| routing.get("ipv4NodeSid")).and_then(Value::as_u64);
        let loopback = routing.and_then(|routing| routing.get("ipv4Loopback")).and_then(Value::as_str);
        let pipeconf = device.get("basic").and_then(|basic| basic.get("pipeconf")).and_then(Value::as_str);
        if let Some(pipeconf) = pipeconf.filter(|pipeconf| !pipeconf.contains("-int")) {
            notes.push(format!(
                "{name} runs {pipeconf}, which has no INT; the node of this configuration has"
            ));
        }
        let prefix = format!("{name}/");
        let of_device = ports.iter().filter_map(|port| port.strip_prefix(&prefix)?.parse().ok());
        Device {
            name: name.clone(),
            node_sid: sid.and_then(|sid| u32::try_from(sid).ok()),
            loopback: loopback.and_then(|address| address.parse().ok()),
            ports: of_device.collect(),
        }
    })
    .collect()
}

/// Adds the unknown keys of the block to `notes`.
fn name_unknown(report: &Map<String, Value>, notes: &mut Vec<String>) {
    const KNOWN: [&str; 5] = [
        "collectorIp",
        "collectorPort",
        "minFlowHopLatencyChangeNs",
        "watchSubnets",
        "queueReportLatencyThresholds",
    ];
    let unknown_keys = report.keys().filter(|key| !KNOWN.contains(&key.as_str()));
    notes.extend(unknown_keys.map(|key| unknown("report", key)));
}

fn unknown(place: &str, key: &str) -> String {
    format!("{place}.{key} is not known and has been left out")
}

/// Adds the other parts of a network configuration to `notes`.
fn name_others(root: &Value, notes: &mut Vec<String>) {
    let apps = root.get("apps").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let apps: Vec<_> = apps.filter(|app| *app != APP).map(String::as_str).collect();
    if !apps.is_empty() {
        notes.push(format!(
            "a node does no forwarding; other applications have been left out: {}",
            apps.join(", ")
        ));
    }
    let sections = root.as_object().into_iter().flatten();
    let others = sections.filter(|(key, section)| {
        !matches!(key.as_str(), "apps" | "devices" | "ports" | "report")
            && *key != APP
            && section.as_object().is_some_and(|section| !section.is_empty())
    });
    let others: Vec<_> = others.map(|(key, _)| key.as_str()).collect();
    if !others.is_empty() {
        notes.push(format!(
            "these sections say nothing about INT and have been left out: {}",
            others.join(", ")
        ));
    }
}
