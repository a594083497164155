//! The names in an ONOS network configuration and in its REST API's devices, links and hosts.

use std::collections::BTreeMap;

use anyhow::{Error, anyhow};
use inband_model::{HostName, InterfaceName, Labels, NameList, NodeName, Prefix, SubnetName};
use serde_json::Value;

use super::json::{array, object, text, whole};

/// Reads the names of several files together; what is left out is added to `notes`.
///
/// # Errors
/// A file is not JSON or not a response of ONOS, or no file has a node id.
pub(super) fn names(files: &[String], notes: &mut Vec<String>) -> Result<NameList, Error> {
    let roots: Vec<Value> = files.iter().map(|text| serde_json::from_str(text)).collect::<Result<_, _>>()?;
    let known = ["devices", "links", "hosts", "ports"];
    if roots.iter().any(|root| known.iter().all(|key| root.get(key).is_none())) {
        return Err(anyhow!("no `devices`, `ports`, `links` or `hosts`: this is nothing ONOS says"));
    }
    let nodes = nodes(&roots, notes);
    if nodes.is_empty() {
        return Err(anyhow!(
            "no device has an `ipv4NodeSid`: the network configuration (/onos/v1/network/configuration) is needed"
        ));
    }
    let mut list = NameList::default();
    for (device, node) in &nodes {
        list.nodes.push(NodeName::new(*node, device_name(&roots, device)));
    }
    list.interfaces = interfaces(&roots, &nodes, notes);
    list.subnets = subnets(&roots);
    list.hosts = hosts(&roots, notes);
    Ok(list)
}

/// Node ids by device, from the network configuration; the other files have none.
fn nodes(roots: &[Value], notes: &mut Vec<String>) -> BTreeMap<String, u32> {
    let mut nodes = BTreeMap::new();
    for (device, config) in roots.iter().flat_map(|root| object(root, "devices")) {
        match whole(&config["segmentrouting"]["ipv4NodeSid"]) {
            Some(id) => {
                nodes.insert(device.clone(), id);
            }
            None => notes.push(format!("{device} has no segmentrouting.ipv4NodeSid, so no node id")),
        }
    }
    nodes
}

fn device_name<'a>(roots: &'a [Value], device: &'a str) -> &'a str {
    let described = roots.iter().flat_map(|root| array(root, "devices"));
    let annotated = described.filter(|other| text(other, "id") == Some(device));
    let annotated = annotated.filter_map(|device| text(&device["annotations"], "name"));
    let configured = roots.iter().flat_map(|root| object(root, "devices"));
    let configured = configured.filter(|(other, _)| *other == device);
    let configured = configured.filter_map(|(_, config)| text(&config["basic"], "name"));
    annotated.chain(configured).find(|name| !name.is_empty()).unwrap_or(device)
}

fn interfaces(roots: &[Value], nodes: &BTreeMap<String, u32>, notes: &mut Vec<String>) -> Vec<InterfaceName> {
    let mut found: BTreeMap<(u32, u16), (Option<String>, Option<String>)> = BTreeMap::new();
    // `device:leaf1/260`: the port follows the last slash.
    for (place, config) in roots.iter().flat_map(|root| object(root, "ports")) {
        let port =
            place.rsplit_once('/').and_then(|(device, port)| Some((nodes.get(device)?, port_id(port)?)));
        let Some((node, port)) = port else {
            notes.push(format!("port {place} is of no device with a node id"));
            continue;
        };
        let name = array(config, "interfaces").find_map(|interface| text(interface, "name"));
        found.entry((*node, port)).or_default().0 = name.map(str::to_owned);
    }
    for link in roots.iter().flat_map(|root| array(root, "links")) {
        for (this, other) in [("src", "dst"), ("dst", "src")] {
            let device = text(&link[this], "device").and_then(|device| nodes.get(device));
            let port = text(&link[this], "port").and_then(port_id);
            let other = text(&link[other], "device");
            let (Some(node), Some(port), Some(other)) = (device, port, other) else {
                notes.push(format!("a link without devices, ports or node id: {link}"));
                break;
            };
            found.entry((*node, port)).or_default().1 = Some(device_name(roots, other).to_owned());
        }
    }
    let named = found.into_iter().filter(|(_, (name, to))| name.is_some() || to.is_some());
    named
        .map(|((node, id), (name, to))| InterfaceName {
            node,
            id,
            name: name.unwrap_or_else(|| id.to_string()),
            to,
            labels: Labels::new(),
        })
        .collect()
}

/// `260`, or `[5/0](260)` as ONOS writes named ports.
fn port_id(text: &str) -> Option<u16> {
    let number = text.rsplit_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(text);
    number.parse().ok()
}

/// The subnets of configured interfaces.
fn subnets(roots: &[Value]) -> Vec<SubnetName> {
    let ports = roots.iter().flat_map(|root| object(root, "ports"));
    let interfaces = ports.flat_map(|(_, config)| array(config, "interfaces"));
    let mut subnets = Vec::new();
    for address in interfaces.flat_map(|interface| array(interface, "ips")).filter_map(Value::as_str) {
        let Ok(prefix) = address.parse::<Prefix>() else { continue };
        let prefix = prefix.network();
        if subnets.iter().all(|known: &SubnetName| known.prefix != prefix) {
            subnets.push(SubnetName { prefix, name: prefix.to_string(), labels: Labels::new() });
        }
    }
    subnets
}

/// The hosts of the REST API (a list) and of the network configuration (by id).
fn hosts(roots: &[Value], notes: &mut Vec<String>) -> Vec<HostName> {
    let mut hosts = Vec::new();
    let listed = roots.iter().flat_map(|root| array(root, "hosts"));
    let listed = listed.map(|host| {
        let name = text(&host["annotations"], "name").or_else(|| text(host, "id"));
        (name.unwrap_or_default(), &host["ipAddresses"])
    });
    let configured = roots.iter().flat_map(|root| object(root, "hosts"));
    let configured = configured
        .map(|(id, config)| (text(&config["basic"], "name").unwrap_or(id.as_str()), &config["basic"]["ips"]));
    for (name, addresses) in listed.chain(configured) {
        for address in addresses.as_array().into_iter().flatten() {
            match address.as_str().map(str::parse) {
                Some(Ok(address)) => {
                    hosts.push(HostName { address, name: name.to_owned(), labels: Labels::new() });
                }
                _ => notes.push(format!("host {name} has an address that is none: {address}")),
            }
        }
    }
    hosts.sort();
    hosts.dedup();
    hosts
}
