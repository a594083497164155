//! How long do packets stay in each node, and how deep are its queues?

mod episode;
mod gauge;
mod port;
mod queue;
mod settings;
mod spike;

use hashbrown::HashMap;
use inband_model::{Nanos, NodeId, ReportReference};

use crate::deadlines::Deadlines;
use crate::outbox::Outbox;
use crate::report::HopReading;
use crate::settings::EventSettings;
use crate::views::{PortView, QueueView};

pub use self::settings::{CongestionSettings, PortSettings, SpikeSettings};

pub(crate) use self::port::Port;
use self::queue::Queue;

/// The egress interfaces of all nodes with their queues, at most a stated number of both.
#[derive(Debug)]
pub(crate) struct Ports {
    settings: PortSettings,
    congestion: CongestionSettings,
    spike: SpikeSettings,
    ports: Vec<Port>,
    index: HashMap<(NodeId, Option<u16>), PortIndex>,
    queues: Vec<Queue>,
    calm: Deadlines<QueueIndex>,
    overflow: u64,
}

/// Where a port stands in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PortIndex(usize);

/// Where a queue stands in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct QueueIndex(usize);

/// One hop of one report, on its way into the statistics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'a> {
    pub(crate) now: Nanos,
    pub(crate) report: ReportReference,
    pub(crate) reading: &'a HopReading,
    /// Q, where it is about this hop.
    pub(crate) congested_queue: bool,
}

impl Ports {
    pub(crate) fn new(settings: PortSettings, events: &EventSettings) -> Ports {
        Ports {
            settings,
            congestion: events.queue_congestion.clone(),
            spike: events.latency_spike.clone(),
            ports: Vec::new(),
            index: HashMap::new(),
            queues: Vec::new(),
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

    /// Takes in what one hop reported.
    #[inline]
    pub(crate) fn record(&mut self, index: PortIndex, sample: &Sample<'_>, outbox: &mut Outbox) {
        let port = &mut self.ports[index.0];
        port.record(&self.spike, sample, outbox);
        let queue_id = sample.reading.queue.map(|queue| queue.id);
        let is_known = port.queues.iter().find(|(id, _)| *id == queue_id).map(|(_, queue)| *queue);
        let Some(queue) = is_known.or_else(|| self.open_queue(index, queue_id)) else { return };
        let deadline = self.queues[queue.0].record(&self.congestion, sample, outbox);
        if let Some(due) = deadline {
            self.calm.set(due, queue);
        }
    }

    /// Ends the episodes of congestion that have been silent long enough.
    pub(crate) fn handle_timeout(&mut self, now: Nanos, outbox: &mut Outbox) {
        while let Some(queue) = self.calm.pop_due(now) {
            let deadline = self.queues[queue.0].handle_timeout(&self.congestion, now, outbox);
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
        self.queues.push(Queue::new(port.node_id, port.egress_interface, queue_id));
        Some(queue)
    }
}

#[cfg(test)]
mod tests;
