//! The network as known from reports.

use inband_model::{Hop, Nanos, NodeId, Origin};

use crate::flows::{FlowEntry, FlowTable};
use crate::paths::{Links, PathIndex, PathSettings, PathTable, Topology};
use crate::ports::{PortSettings, Ports};

/// The flows, their paths, the links of these and the ports of all nodes: the state that detectors read.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) settings: PathSettings,
    pub(crate) flows: FlowTable,
    pub(crate) paths: PathTable,
    pub(crate) links: Links,
    /// The configured links.
    pub(crate) topology: Topology,
    pub(crate) ports: Ports,
}

impl Network {
    pub(crate) fn new(settings: PathSettings, ports: PortSettings) -> Self {
        Self {
            flows: FlowTable::new(settings.max_flows),
            paths: PathTable::new(settings.max_paths),
            links: Links::new(settings.max_links),
            topology: Topology::new(&settings.links),
            ports: Ports::new(ports),
            settings,
        }
    }

    /// Acquires a path for one more user; `None` when there is no room for another path.
    pub(crate) fn acquire_path(&mut self, now: Nanos, hops: &[Hop]) -> Option<PathIndex> {
        self.paths.acquire(now, hops, &mut self.links, &mut self.ports)
    }

    /// Records that a flow takes a path now.
    #[inline]
    pub(crate) fn touch_path(&mut self, now: Nanos, path: PathIndex) {
        self.paths.touch(now, path, self.settings.link_resolution(), &mut self.links);
    }

    /// Records that there are no other nodes between the hops of a path.
    pub(crate) fn make_certain(&mut self, path: PathIndex) {
        self.paths.make_certain(path, &mut self.links);
    }

    /// The hops of the path of a flow; empty where it has no path.
    pub(crate) fn hops(&self, entry: &FlowEntry) -> &[Hop] {
        entry.path.map_or(&[], |path| self.paths[path].path.hops())
    }

    /// Whether all hops of the path of a flow were seen, as far as is known.
    pub(crate) fn is_complete(&self, entry: &FlowEntry) -> bool {
        let hops = self.hops(entry);
        let has_all = entry.hops_expected.is_some_and(|expected| hops.len() >= usize::from(expected));
        let (Some(first), Some(last)) = (hops.first(), hops.last()) else { return false };
        let has_edges = self.settings.edges.is_empty()
            || self.is_edge(first.node_id, first.ingress_interface)
                && self.is_edge(last.node_id, last.egress_interface);
        let is_stack = entry.origin == Origin::MdStack;
        has_all && has_edges && (is_stack || !self.links_go_on(first, last))
    }

    /// Whether paths have shown that there is a node before the first of these hops, or after the last one,
    /// by an interface that faces no host.
    pub(crate) fn links_go_on(&self, first: &Hop, last: &Hop) -> bool {
        self.links.come_from(first) && !self.is_edge(first.node_id, first.ingress_interface)
            || self.links.go_on(last) && !self.is_edge(last.node_id, last.egress_interface)
    }

    /// Whether an interface faces hosts, by the configuration.
    fn is_edge(&self, node_id: NodeId, interface: Option<u16>) -> bool {
        let mut edges = self.settings.edges.iter();
        edges.any(|edge| edge.node == node_id.0 && Some(edge.interface) == interface)
    }

    /// The time before which the last report of a link means that it is out of service.
    pub(crate) fn alive_since(&self, now: Nanos) -> Nanos {
        Nanos(now.0.saturating_sub(self.settings.reroute_after_ns))
    }
}
