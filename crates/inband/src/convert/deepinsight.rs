//! The names in a topology for Intel DeepInsight (`topology.json`, as SD-Fabric's tools write it).

use anyhow::{Error, anyhow};
use inband_model::{HostName, InterfaceName, Labels, NameList, NodeName, SubnetName};
use serde_json::Value;

use super::json::{array, text, whole};

/// Reads the names; what is left out is added to `notes`.
///
/// # Errors
/// The text is not JSON, or has none of the four lists.
pub(super) fn names(json: &str, notes: &mut Vec<String>) -> Result<NameList, Error> {
    let root: Value = serde_json::from_str(json)?;
    if ["switches", "links", "subnets", "hosts"].iter().all(|key| root.get(key).is_none()) {
        return Err(anyhow!(
            "no `switches`, `links`, `subnets` or `hosts`: this is no topology for DeepInsight"
        ));
    }
    let mut list = NameList::default();
    for switch in array(&root, "switches") {
        match (whole(&switch["switchId"]), text(switch, "name")) {
            (Some(id), Some(name)) => {
                let hostname = text(switch, "hostname");
                list.nodes.push(NodeName::new(id, hostname.unwrap_or(name)));
            }
            _ => notes.push(format!("a switch without switchId or name: {switch}")),
        }
    }
    let node = |name: &str| {
        let is_it = |switch: &&Value| text(switch, "name") == Some(name);
        array(&root, "switches").find(is_it).and_then(|switch| whole(&switch["switchId"]))
    };
    for link in array(&root, "links") {
        for (this, port, number, other) in
            [("node1", "port1", "switchPort1", "node2"), ("node2", "port2", "switchPort2", "node1")]
        {
            let (Some(this), Some(other)) = (text(link, this), text(link, other)) else {
                notes.push(format!("a link without node1 or node2: {link}"));
                break;
            };
            // Subnets and hosts have no interface that reports.
            let Some(node) = node(this) else { continue };
            // The older form gives the number as the port's name.
            let id: Option<u16> = whole(&link[number]).or_else(|| whole(&link[port]));
            let Some(id) = id else {
                notes.push(format!("a port of {this} without a number: {link}"));
                continue;
            };
            let name = text(link, port).map_or_else(|| id.to_string(), str::to_owned);
            list.interfaces.push(InterfaceName {
                node,
                id,
                name,
                to: Some(other.to_owned()),
                labels: Labels::new(),
            });
        }
    }
    for subnet in array(&root, "subnets") {
        match text(subnet, "ip_subnet").map(str::parse) {
            Some(Ok(prefix)) => {
                let name = text(subnet, "name").map_or_else(|| String::from(prefix), str::to_owned);
                list.subnets.push(SubnetName { prefix, name, labels: Labels::new() });
            }
            _ => notes.push(format!("a subnet without a prefix: {subnet}")),
        }
    }
    for host in array(&root, "hosts") {
        match (text(host, "ip").map(str::parse), text(host, "name")) {
            (Some(Ok(address)), Some(name)) => {
                list.hosts.push(HostName { address, name: name.to_owned(), labels: Labels::new() });
            }
            _ => notes.push(format!("a host without address or name: {host}")),
        }
    }
    Ok(list)
}
