//! Names, labels and units beside what the collector says, which stays as it is.

use inband_collector::{FlowView, LinkView, NodeView, PortView, QueueView};
use inband_model::{Labels, Names, QueueUnit};
use serde::Serialize;

/// A node with its name.
#[derive(Serialize)]
pub(crate) struct NamedNode<'a> {
    #[serde(flatten)]
    node: &'a NodeView,
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<&'a Labels>,
}

/// A link with the names of its ends.
#[derive(Serialize)]
pub(crate) struct NamedLink<'a> {
    /// By which its flows are asked for: `FROM.INTERFACE-TO.INTERFACE`.
    id: String,
    #[serde(flatten)]
    link: &'a LinkView,
    from_name: Option<&'a str>,
    egress_interface_name: Option<&'a str>,
    to_name: Option<&'a str>,
    ingress_interface_name: Option<&'a str>,
    /// Of both interfaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    egress_interface_labels: Option<&'a Labels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ingress_interface_labels: Option<&'a Labels>,
}

/// Nodes and links with their names.
#[derive(Serialize)]
pub(crate) struct NamedTopology<'a> {
    nodes: Vec<NamedNode<'a>>,
    links: Vec<NamedLink<'a>>,
}

/// An interface with its name, that of its node, and of what is on the other end of its link.
#[derive(Serialize)]
pub(crate) struct NamedPort<'a> {
    #[serde(flatten)]
    port: &'a PortView,
    node_name: Option<&'a str>,
    interface_name: Option<&'a str>,
    interface_to: Option<&'a str>,
    /// The value of `utilization` that means a full link.
    utilization_full: Option<u32>,
    /// The latest utilization, thousandths of a full link.
    utilization_permille: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<&'a Labels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_labels: Option<&'a Labels>,
}

/// A queue with the names of its node and interface.
#[derive(Serialize)]
pub(crate) struct NamedQueue<'a> {
    #[serde(flatten)]
    queue: &'a QueueView,
    node_name: Option<&'a str>,
    interface_name: Option<&'a str>,
    /// In what the node counts; `None`: not known.
    unit: Option<QueueUnit>,
    last_bytes: Option<u64>,
    recent_bytes: Option<u64>,
    max_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interface_labels: Option<&'a Labels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_labels: Option<&'a Labels>,
}

/// A flow with the names of its ends and of the nodes on its path.
#[derive(Serialize)]
pub(crate) struct NamedFlow<'a> {
    #[serde(flatten)]
    flow: &'a FlowView<'a>,
    source_name: Option<&'a str>,
    destination_name: Option<&'a str>,
    path_names: Vec<Option<&'a str>>,
    #[serde(skip_serializing_if = "Labels::is_empty")]
    source_labels: Labels,
    #[serde(skip_serializing_if = "Labels::is_empty")]
    destination_labels: Labels,
}

/// Puts names beside what the collector says.
pub(crate) trait Named {
    /// A node with its name.
    fn of_node<'a>(&'a self, node: &'a NodeView) -> NamedNode<'a>;

    /// A link with the names of its ends.
    fn of_link<'a>(&'a self, link: &'a LinkView) -> NamedLink<'a>;

    /// Nodes and links with their names.
    fn of_topology<'a>(&'a self, nodes: &'a [NodeView], links: &'a [LinkView]) -> NamedTopology<'a>;

    /// An interface with its names.
    fn of_port<'a>(&'a self, port: &'a PortView) -> NamedPort<'a>;

    /// A queue with the names of its node and interface.
    fn of_queue<'a>(&'a self, queue: &'a QueueView) -> NamedQueue<'a>;

    /// A flow with the names of its ends and nodes.
    fn of_flow<'a>(&'a self, flow: &'a FlowView<'a>) -> NamedFlow<'a>;
}

impl Named for Names {
    fn of_node<'a>(&'a self, node: &'a NodeView) -> NamedNode<'a> {
        NamedNode { node, name: self.node(node.node_id), labels: self.node_labels(node.node_id) }
    }

    fn of_link<'a>(&'a self, link: &'a LinkView) -> NamedLink<'a> {
        let interface = |node, id| self.interface(node, id).map(|interface| interface.name.as_str());
        NamedLink {
            id: link_id(link),
            link,
            from_name: self.node(link.from),
            egress_interface_name: interface(link.from, link.egress_interface),
            to_name: self.node(link.to),
            ingress_interface_name: interface(link.to, link.ingress_interface),
            egress_interface_labels: self.interface_labels(link.from, link.egress_interface),
            ingress_interface_labels: self.interface_labels(link.to, link.ingress_interface),
        }
    }

    fn of_topology<'a>(&'a self, nodes: &'a [NodeView], links: &'a [LinkView]) -> NamedTopology<'a> {
        NamedTopology {
            nodes: nodes.iter().map(|node| self.of_node(node)).collect(),
            links: links.iter().map(|link| self.of_link(link)).collect(),
        }
    }

    fn of_port<'a>(&'a self, port: &'a PortView) -> NamedPort<'a> {
        let interface = self.interface(port.node_id, port.egress_interface);
        let units = self.units().of(port.node_id);
        NamedPort {
            port,
            node_name: self.node(port.node_id),
            interface_name: interface.map(|interface| interface.name.as_str()),
            interface_to: interface.and_then(|interface| interface.to.as_deref()),
            utilization_full: units.utilization_full,
            utilization_permille: port.utilization.and_then(|level| units.utilization_permille(level.last)),
            labels: self.interface_labels(port.node_id, port.egress_interface),
            node_labels: self.node_labels(port.node_id),
        }
    }

    fn of_queue<'a>(&'a self, queue: &'a QueueView) -> NamedQueue<'a> {
        let interface = self.interface(queue.node_id, queue.egress_interface);
        let units = self.units().of(queue.node_id);
        NamedQueue {
            queue,
            node_name: self.node(queue.node_id),
            interface_name: interface.map(|interface| interface.name.as_str()),
            unit: units.queue,
            last_bytes: units.queue_bytes(queue.last),
            recent_bytes: units.queue_bytes(queue.recent),
            max_bytes: units.queue_bytes(queue.max),
            interface_labels: self.interface_labels(queue.node_id, queue.egress_interface),
            node_labels: self.node_labels(queue.node_id),
        }
    }

    fn of_flow<'a>(&'a self, flow: &'a FlowView<'a>) -> NamedFlow<'a> {
        let [source_name, destination_name] = self.ends(&flow.flow);
        let path_names = flow.path.map(|path| self.path(path)).unwrap_or_default();
        let [source_labels, destination_labels] =
            [flow.flow.source, flow.flow.destination].map(|address| self.address_labels(address));
        NamedFlow { flow, source_name, destination_name, path_names, source_labels, destination_labels }
    }
}

/// Names a link: node and interface that packets leave by, then those they come in by; `*`: not known.
fn link_id(link: &LinkView) -> String {
    let interface = |id: Option<u16>| id.map_or_else(|| "*".to_owned(), |id| id.to_string());
    let (egress, ingress) = (interface(link.egress_interface), interface(link.ingress_interface));
    format!("{}.{egress}-{}.{ingress}", link.from, link.to)
}

#[cfg(test)]
mod tests;
