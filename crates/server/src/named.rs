//! Names, labels and units beside the collector's views, which stay unchanged.

use inband_model::Names;
use inband_model::api::{
    FlowView, LinkView, NamedFlow, NamedLink, NamedNode, NamedPort, NamedQueue, NamedTopology, NodeView,
    PortView, QueueView,
};

/// Adds names to the collector's views.
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
        NamedNode {
            node,
            name: self.node(node.node_id),
            labels: self.node_labels(node.node_id),
            window: None,
        }
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
            window: None,
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
            window: None,
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
            window: None,
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

/// The id of a link: node and interface that packets leave by, then those they enter by; `*` if unknown.
fn link_id(link: &LinkView) -> String {
    let interface = |id: Option<u16>| id.map_or_else(|| "*".to_owned(), |id| id.to_string());
    let (egress, ingress) = (interface(link.egress_interface), interface(link.ingress_interface));
    format!("{}.{egress}-{}.{ingress}", link.from, link.to)
}

#[cfg(test)]
mod tests;
