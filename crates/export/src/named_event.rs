//! Events with names, labels and units, as every output and the API show them.

use std::net::IpAddr;

use inband_model::{EventView, Labels, Names, NodeId, QueueUnit};
use serde::Serialize;
use serde_json::Value;

/// An event with its key in names, the labels of what it is about, and its values in units that are known.
#[derive(Debug, Serialize)]
pub struct NamedEvent<'a> {
    #[serde(flatten)]
    view: &'a EventView,
    title: String,
    #[serde(skip_serializing_if = "EventLabels::is_empty")]
    labels: EventLabels<'a>,
    /// In what the node counts the occupancies of `detail`.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_unit: Option<QueueUnit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    utilization_permille: Option<u64>,
}

/// The labels of what an event is about.
#[derive(Debug, Default, Serialize)]
struct EventLabels<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a Labels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interface: Option<&'a Labels>,
    #[serde(skip_serializing_if = "Labels::is_empty")]
    source: Labels,
    #[serde(skip_serializing_if = "Labels::is_empty")]
    destination: Labels,
}

impl EventLabels<'_> {
    fn is_empty(&self) -> bool {
        let of_flow = self.source.is_empty() && self.destination.is_empty();
        self.node.is_none() && self.interface.is_none() && of_flow
    }
}

impl<'a> NamedEvent<'a> {
    /// An event of any kind: what it is about is found in its detail by the names of keys.
    #[must_use]
    pub fn of(names: &'a Names, view: &'a EventView) -> Self {
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
}

fn flow_labels<'a>(names: &Names, flow: &Value) -> EventLabels<'a> {
    let labels = |end: &str| {
        let address: Option<IpAddr> = flow[end].as_str().and_then(|address| address.parse().ok());
        address.map(|address| names.address_labels(address)).unwrap_or_default()
    };
    EventLabels { source: labels("source"), destination: labels("destination"), ..EventLabels::default() }
}
