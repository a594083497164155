//! How long packets stay in each node, and how deep its queues are.

mod burst;
mod episode;
mod gauge;
mod index;
mod jam;
mod place;
mod port;
mod queue;
mod sample;
mod settings;

use std::ops::Index;

use hashbrown::HashMap;
use inband_model::{Nanos, NodeId};

use crate::deadlines::Deadlines;
use crate::outbox::Outbox;
use crate::views::{PortView, QueueView};

pub use self::settings::PortSettings;

pub(crate) use self::index::PortIndex;
use self::index::QueueIndex;
pub(crate) use self::port::Port;
use self::queue::{Jams, Queue};
pub(crate) use self::sample::Sample;
pub(crate) use self::settings::PortEventSettings;

/// The egress interfaces of all nodes with their queues, at most a stated number of both.
#[derive(Debug)]
pub(crate) struct Ports {
    settings: PortSettings,
    events: PortEventSettings,
    ports: Vec<Port>,
    index: HashMap<(NodeId, Option<u16>), PortIndex>,
    queues: Vec<Queue>,
    jams: Jams,
    calm: Deadlines<QueueIndex>,
    overflow: u64,
}

impl Ports {
    pub(crate) fn new(settings: PortSettings, events: PortEventSettings) -> Ports {
        Ports {
            settings,
            events,
            ports: Vec::new(),
            index: HashMap::new(),
            queues: Vec::new(),
            jams: Jams::default(),
            calm: Deadlines::new(),
            overflow: 0,
        }
    }

    /// Finds a port, or adds it; `None` when there is no room for it, or when the node did not tell its id.
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

    /// Takes in what one hop reported of its node and interface.
    #[inline]
    pub(crate) fn record(&mut self, sample: &Sample<'_>) {
        self.ports[sample.port.0].record(sample);
    }

    /// Takes in what one hop reported of its queue.
    #[inline]
    pub(crate) fn record_queue(&mut self, sample: &Sample<'_>, outbox: &mut Outbox) {
        let index = sample.port;
        let port = &self.ports[index.0];
        let queue_id = sample.reading.queue().map(|queue| queue.id);
        let is_known = port.queues.iter().find(|(id, _)| *id == queue_id).map(|(_, queue)| *queue);
        let Some(queue) = is_known.or_else(|| self.open_queue(index, queue_id)) else { return };
        let port = &self.ports[index.0];
        let deadline = self.queues[queue.0].record(&self.events, sample, port, &mut self.jams, outbox);
        if let Some(due) = deadline {
            self.calm.set(due, queue);
        }
    }

    /// Whether the queue, or any queue of the interface where the queue is not known, is congested.
    pub(crate) fn is_congested(&self, node_id: NodeId, egress: Option<u16>, queue_id: Option<u8>) -> bool {
        let Some(index) = self.index.get(&(node_id, egress)) else { return false };
        let queues = self.ports[index.0].queues.iter();
        let mut queues = queues.filter(|(id, _)| queue_id.is_none() || *id == queue_id || id.is_none());
        queues.any(|(_, queue)| self.queues[queue.0].is_congested())
    }

    /// Ends the episodes of congestion that have been silent long enough.
    pub(crate) fn handle_timeout(&mut self, now: Nanos, outbox: &mut Outbox) {
        while let Some(queue) = self.calm.pop_due(now) {
            let deadline = self.queues[queue.0].handle_timeout(&self.events, now, &mut self.jams, outbox);
            if let Some(due) = deadline {
                self.calm.set(due, queue);
            }
        }
    }

    pub(crate) fn next_timeout(&self) -> Option<Nanos> {
        self.calm.next()
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

    /// Ports and queues there was no room for, each time one was met.
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
        let units = self.events.units.of(port.node_id);
        self.queues.push(Queue::new(port.node_id, port.egress_interface, queue_id, units));
        Some(queue)
    }
}

impl Index<PortIndex> for Ports {
    type Output = Port;

    fn index(&self, index: PortIndex) -> &Port {
        &self.ports[index.0]
    }
}

#[cfg(test)]
mod tests;
