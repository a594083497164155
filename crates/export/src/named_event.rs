//! Events with names, labels and units, as every output and the API show them.

use std::net::IpAddr;

use inband_model::api::{EventLabels, NamedEvent};
use inband_model::{EventView, Names, NodeId};
use serde_json::Value;

/// Names an event; the detail's keys tell what it is about.
#[must_use]
pub fn named_event<'a>(names: &'a Names, view: &'a EventView) -> NamedEvent<'a> {
    let title = names.key(&view.event.key);
    let detail = serde_json::to_value(&view.event.detail).unwrap_or_default();
    let detail = &detail["detail"];
    let number = |key: &str| detail[key].as_u64();
    let value = |key: &str| number(key).and_then(|value| u32::try_from(value).ok());
    let Some(node) = value("node_id").map(NodeId) else {
        let labels = flow_labels(names, &detail["flow"]);
        return NamedEvent {
            view,
            title,
            labels,
            queue_unit: None,
            peak_bytes: None,
            utilization_permille: None,
        };
    };
    let interface = number("egress_interface").and_then(|id| u16::try_from(id).ok());
    let units = names.units().of(node);
    let peak = value("peak_occupancy");
    NamedEvent {
        view,
        title,
        labels: EventLabels {
            node: names.node_labels(node),
            interface: names.interface_labels(node, interface),
            ..flow_labels(names, &detail["flow"])
        },
        queue_unit: peak.and(units.queue),
        peak_bytes: peak.and_then(|peak| units.queue_bytes(peak)),
        utilization_permille: value("utilization").and_then(|level| units.utilization_permille(level)),
    }
}

fn flow_labels<'a>(names: &Names, flow: &Value) -> EventLabels<'a> {
    let labels = |end: &str| {
        let address: Option<IpAddr> = flow[end].as_str().and_then(|address| address.parse().ok());
        address.map(|address| names.address_labels(address)).unwrap_or_default()
    };
    EventLabels { source: labels("source"), destination: labels("destination"), ..EventLabels::default() }
}
