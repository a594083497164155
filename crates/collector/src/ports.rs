//! The latency of packets in each node, and the depth of its queues.

mod gauge;
mod index;
mod place;
mod port;
mod queue;
mod sample;
mod settings;

use std::ops::Index;

use hashbrown::HashMap;
use inband_model::api::{PortView, QueueView};
use inband_model::{Nanos, NodeId};

pub use self::settings::PortSettings;

pub(crate) use self::index::{PortIndex, QueueIndex};
pub(crate) use self::place::Place;
pub(crate) use self::port::Port;
use self::queue::Queue;
pub(crate) use self::sample::Sample;

/// The egress interfaces of all nodes with their queues, each up to a configured maximum.
#[derive(Debug)]
pub(crate) struct Ports {
    settings: PortSettings,
    ports: Vec<Port>,
    index: HashMap<(NodeId, Option<u16>), PortIndex>,
    queues: Vec<Queue>,
    overflow: u64,
}

impl Ports {
    pub(crate) fn new(settings: PortSettings) -> Ports {
        Ports { settings, ports: Vec::new(), index: HashMap::new(), queues: Vec::new(), overflow: 0 }
    }

    /// Finds or adds a port; `None` when there is no room for it, or when the node did not report its id.
    pub(crate) fn open(
        &mut self,
        now: Nanos,
        node_id: NodeId,
        egress_interface: Option<u16>,
    ) -> Option<PortIndex> {
        if let Some(index) = self.index.get(&(node_id, egress_interface)) {
            return Some(*index);
        }
        if node_id == NodeId::NOT_AVAILABLE {
            return None;
        }
        if self.ports.len() >= self.settings.max_ports {
            self.overflow += 1;
            return None;
        }
        let index = PortIndex(self.ports.len());
        self.ports.push(Port::new(now, node_id, egress_interface));
        self.index.insert((node_id, egress_interface), index);
        Some(index)
    }

    /// Records what one hop reported of its node, its interface and its queue; returns the queue, `None`
    /// where there is no room for it.
    #[inline(always)]
    pub(crate) fn record(&mut self, sample: &Sample<'_>) -> Option<QueueIndex> {
        let port = &mut self.ports[sample.port.0];
        port.record(sample);
        let queue_id = sample.reading.queue().map(|queue| queue.id);
        let known = port.queues.iter().find(|(id, _)| *id == queue_id).map(|(_, queue)| *queue);
        let queue = known.or_else(|| self.open_queue(sample.port, queue_id))?;
        self.queues[queue.0].record(sample);
        Some(queue)
    }

    /// Records whether a queue is congested.
    pub(crate) fn note_congestion(&mut self, queue: QueueIndex, is_congested: bool) {
        self.queues[queue.0].is_congested = is_congested;
    }

    /// Whether the queue is congested, or any queue of the interface where the queue is unknown.
    pub(crate) fn is_congested(&self, node_id: NodeId, egress: Option<u16>, queue_id: Option<u8>) -> bool {
        let Some(index) = self.index.get(&(node_id, egress)) else { return false };
        let queues = self.ports[index.0].queues.iter();
        let mut queues = queues.filter(|(id, _)| queue_id.is_none() || *id == queue_id || id.is_none());
        queues.any(|(_, queue)| self.queues[queue.0].is_congested)
    }

    /// The ports, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter()
    }

    /// The ports as users see them, in no order.
    pub(crate) fn views(&self) -> impl Iterator<Item = PortView> {
        self.ports.iter().map(Port::view)
    }

    /// The queues with an occupancy, in no order.
    pub(crate) fn queues(&self, now: Nanos) -> impl Iterator<Item = QueueView> {
        self.queues.iter().filter_map(move |queue| queue.view(now))
    }

    /// Ports and queues there was no room for, counted at each occurrence.
    pub(crate) fn overflow(&self) -> u64 {
        self.overflow
    }

    fn open_queue(&mut self, index: PortIndex, queue_id: Option<u8>) -> Option<QueueIndex> {
        if self.queues.len() >= self.settings.max_queues {
            self.overflow += 1;
            return None;
        }
        let port = &mut self.ports[index.0];
        let queue = QueueIndex(self.queues.len());
        port.queues.push((queue_id, queue));
        let (node_id, egress_interface) = (port.node_id, port.egress_interface);
        self.queues.push(Queue::new(Place { node_id, egress_interface, queue_id }));
        Some(queue)
    }
}

impl Index<PortIndex> for Ports {
    type Output = Port;

    fn index(&self, index: PortIndex) -> &Port {
        &self.ports[index.0]
    }
}
