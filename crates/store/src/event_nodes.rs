//! The nodes that an event is about.

use std::collections::BTreeSet;

use inband_model::Event;
use serde_json::Value;

/// The nodes that an event names, and those that reported it.
#[must_use]
pub fn event_nodes(event: &Event) -> BTreeSet<u32> {
    let mut nodes = event.evidence.iter().map(|report| report.node_id.0).collect();
    if let Ok(detail) = serde_json::to_value(&event.detail) {
        add_nodes(&detail["detail"], false, &mut nodes);
    }
    nodes
}

/// Adds the values of the fields in [`NODE_FIELDS`].
fn add_nodes(value: &Value, is_node: bool, nodes: &mut BTreeSet<u32>) {
    match value {
        Value::Number(number) if is_node => {
            nodes.extend(number.as_u64().and_then(|number| u32::try_from(number).ok()));
        }
        Value::Array(all) => all.iter().for_each(|value| add_nodes(value, is_node, nodes)),
        Value::Object(all) => all.iter().for_each(|(key, value)| {
            add_nodes(value, NODE_FIELDS.contains(&key.as_str()), nodes);
        }),
        _ => {}
    }
}

/// The fields of event details whose numbers are node ids.
const NODE_FIELDS: [&str; 7] =
    ["node_id", "from", "to", "misses-node", "passes-node", "misses-link", "takes-link"];

#[cfg(test)]
mod tests;
