//! How do names get into answers? What the collector says stays as it is, and names stand beside it.

use inband_collector::{FlowView, LinkView, NodeView, PortView, QueueView, TopologyView};
use inband_model::EventView;
use serde::Serialize;

use crate::names::Names;

/// A node with its name.
#[derive(Serialize)]
pub(super) struct NamedNode<'a> {
    #[serde(flatten)]
    node: &'a NodeView,
    name: Option<&'a str>,
}

/// A link with the names of its ends.
#[derive(Serialize)]
pub(super) struct NamedLink<'a> {
    #[serde(flatten)]
    link: &'a LinkView,
    from_name: Option<&'a str>,
    egress_interface_name: Option<&'a str>,
    to_name: Option<&'a str>,
    ingress_interface_name: Option<&'a str>,
}

/// Nodes and links with their names.
#[derive(Serialize)]
pub(super) struct NamedTopology<'a> {
    nodes: Vec<NamedNode<'a>>,
    links: Vec<NamedLink<'a>>,
}

/// An interface with its name, that of its node, and of what is on the other end of its link.
#[derive(Serialize)]
pub(super) struct NamedPort<'a> {
    #[serde(flatten)]
    port: &'a PortView,
    node_name: Option<&'a str>,
    interface_name: Option<&'a str>,
    interface_to: Option<&'a str>,
}

/// A queue with the names of its node and interface.
#[derive(Serialize)]
pub(super) struct NamedQueue<'a> {
    #[serde(flatten)]
    queue: &'a QueueView,
    node_name: Option<&'a str>,
    interface_name: Option<&'a str>,
}

/// A flow with the names of its ends and of the nodes on its path.
#[derive(Serialize)]
pub(super) struct NamedFlow<'a> {
    #[serde(flatten)]
    flow: &'a FlowView<'a>,
    source_name: Option<&'a str>,
    destination_name: Option<&'a str>,
    path_names: Vec<Option<&'a str>>,
}

/// An event with its key in names.
#[derive(Serialize)]
pub(super) struct NamedEvent<'a> {
    #[serde(flatten)]
    view: &'a EventView,
    title: String,
}

impl Names {
    pub(super) fn of_node<'a>(&'a self, node: &'a NodeView) -> NamedNode<'a> {
        NamedNode { node, name: self.node(node.node_id) }
    }

    pub(super) fn of_link<'a>(&'a self, link: &'a LinkView) -> NamedLink<'a> {
        let interface = |node, id| self.interface(node, id).map(|interface| interface.name.as_str());
        NamedLink {
            link,
            from_name: self.node(link.from),
            egress_interface_name: interface(link.from, link.egress_interface),
            to_name: self.node(link.to),
            ingress_interface_name: interface(link.to, link.ingress_interface),
        }
    }

    pub(super) fn of_topology<'a>(&'a self, topology: &'a TopologyView) -> NamedTopology<'a> {
        NamedTopology {
            nodes: topology.nodes.iter().map(|node| self.of_node(node)).collect(),
            links: topology.links.iter().map(|link| self.of_link(link)).collect(),
        }
    }

    pub(super) fn of_port<'a>(&'a self, port: &'a PortView) -> NamedPort<'a> {
        let interface = self.interface(port.node_id, port.egress_interface);
        NamedPort {
            port,
            node_name: self.node(port.node_id),
            interface_name: interface.map(|interface| interface.name.as_str()),
            interface_to: interface.and_then(|interface| interface.to.as_deref()),
        }
    }

    pub(super) fn of_queue<'a>(&'a self, queue: &'a QueueView) -> NamedQueue<'a> {
        let interface = self.interface(queue.node_id, queue.egress_interface);
        NamedQueue {
            queue,
            node_name: self.node(queue.node_id),
            interface_name: interface.map(|interface| interface.name.as_str()),
        }
    }

    pub(super) fn of_flow<'a>(&'a self, flow: &'a FlowView<'a>) -> NamedFlow<'a> {
        let [source_name, destination_name] = self.ends(&flow.flow);
        let path_names = flow.path.map(|path| self.path(path)).unwrap_or_default();
        NamedFlow { flow, source_name, destination_name, path_names }
    }

    pub(super) fn of_event<'a>(&self, view: &'a EventView) -> NamedEvent<'a> {
        NamedEvent { view, title: self.key(&view.event.key) }
    }
}
