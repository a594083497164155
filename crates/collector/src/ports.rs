//! The latency of packets in each node, and the depth of its queues.

mod gauge;
mod index;
mod place;
mod port;
mod queue;
mod sample;
mod settings;

use std::ops::Index;

use hashbrown::{HashMap, HashSet};
use inband_model::api::{PortView, QueueView};
use inband_model::{Nanos, NodeId};

pub use self::settings::PortSettings;

use self::index::QueueKey;
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
    /// Places that were released.
    free_ports: Vec<PortIndex>,
    free_queues: Vec<QueueIndex>,
    overflow: u64,
    /// When there is next a search for places to release; `None`: there has been room.
    search_at: Option<Nanos>,
}

/// A port that was released with its queues, whose places others may take.
#[derive(Debug)]
pub(crate) struct Released {
    pub(crate) port: PortIndex,
    pub(crate) queues: Vec<QueueIndex>,
}

/// How long a port has been silent that is released for others.
const SILENT: Nanos = Nanos::from_secs(300);
/// How often there is a search for such ports.
const SEARCH_EVERY: Nanos = Nanos::from_secs(10);

impl Ports {
    pub(crate) fn new(settings: PortSettings) -> Ports {
        Ports {
            settings,
            ports: Vec::new(),
            index: HashMap::new(),
            queues: Vec::new(),
            free_ports: Vec::new(),
            free_queues: Vec::new(),
            overflow: 0,
            search_at: None,
        }
    }

    /// The nodes of all ports.
    pub(crate) fn node_ids(&self) -> HashSet<NodeId> {
        self.index.keys().map(|(node_id, _)| *node_id).collect()
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
        let free = self.free_ports.pop().map(PortIndex::place);
        let port = Port::new(now, node_id, egress_interface);
        let Some(place) = put(&mut self.ports, free, self.settings.max_ports, port) else {
            self.miss_room(now);
            return None;
        };
        let index = PortIndex(place);
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
        let key = QueueKey::of(queue_id);
        let queue = match port.queues.iter().find(|(known, _)| *known == key) {
            Some((_, queue)) => *queue,
            None => self.open_queue(sample.now(), sample.port, queue_id)?,
        };
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
        let (key, queues) = (QueueKey::of(queue_id), self.ports[index.0].queues.iter());
        let is_it = |known: QueueKey| known == key || [key, known].contains(&QueueKey::UNKNOWN);
        let mut queues = queues.filter(|(known, _)| is_it(*known));
        queues.any(|(_, queue)| self.queues[queue.0].is_congested)
    }

    /// The ports, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|port| !port.is_released)
    }

    /// The ports as users see them, in no order.
    pub(crate) fn views(&self) -> impl Iterator<Item = PortView> {
        self.iter().map(Port::view)
    }

    /// The queues with an occupancy, in no order.
    pub(crate) fn queues(&self, now: Nanos) -> impl Iterator<Item = QueueView> {
        self.queues.iter().filter_map(move |queue| queue.view(now))
    }

    /// Ports and queues there was no room for, counted at each occurrence.
    pub(crate) fn overflow(&self) -> u64 {
        self.overflow
    }

    #[cold]
    #[inline(never)]
    fn open_queue(&mut self, now: Nanos, index: PortIndex, queue_id: Option<u8>) -> Option<QueueIndex> {
        let port = &mut self.ports[index.0];
        let Port { node_id, egress_interface, .. } = *port;
        let state = Queue::new(Place { node_id, egress_interface, queue_id });
        let free = self.free_queues.pop().map(QueueIndex::place);
        let Some(place) = put(&mut self.queues, free, self.settings.max_queues, state) else {
            self.miss_room(now);
            return None;
        };
        let queue = QueueIndex(place);
        self.ports[index.0].queues.push((QueueKey::of(queue_id), queue));
        Some(queue)
    }

    fn miss_room(&mut self, now: Nanos) {
        self.overflow += 1;
        self.search_at.get_or_insert(now);
    }

    /// Whether it is time to release ports for others that found no room.
    #[inline]
    pub(crate) fn is_search_due(&self, now: Nanos) -> bool {
        self.search_at.is_some_and(|at| at <= now)
    }

    /// Releases the silent ports but those of `used`, by place: paths in use refer to these.
    pub(crate) fn release_silent(&mut self, now: Nanos, used: &[bool]) -> Vec<Released> {
        let is_used = |port: &PortIndex| used.get(port.0).copied().unwrap_or(false);
        let (ports, queues) = (&self.ports, &self.queues);
        let is_silent = |port: &PortIndex| {
            let port = &ports[port.0];
            !port.is_released
                && now.since(port.last_seen) >= SILENT
                && port.queues.iter().all(|(_, queue)| !queues[queue.0].is_congested)
        };
        let places = (0..self.ports.len()).map(PortIndex);
        let gone: Vec<PortIndex> = places.filter(|port| !is_used(port) && is_silent(port)).collect();
        self.search_at = if gone.is_empty() { Some(now + SEARCH_EVERY) } else { None };
        gone.into_iter().map(|port| self.release(port)).collect()
    }

    fn release(&mut self, index: PortIndex) -> Released {
        let port = &mut self.ports[index.0];
        port.is_released = true;
        self.index.remove(&(port.node_id, port.egress_interface));
        let queues: Vec<QueueIndex> = port.queues.drain(..).map(|(_, queue)| queue).collect();
        for queue in &queues {
            // A queue without a depth is in no list.
            let place =
                Place { node_id: port.node_id, egress_interface: port.egress_interface, queue_id: None };
            self.queues[queue.0] = Queue::new(place);
        }
        self.free_ports.push(index);
        self.free_queues.extend(&queues);
        Released { port: index, queues }
    }
}

/// Puts an entry into the `free` place of a table, or behind its last one; `None` if it has `most` entries.
fn put<T>(table: &mut Vec<T>, free: Option<usize>, most: usize, entry: T) -> Option<usize> {
    if let Some(place) = free {
        table[place] = entry;
        return Some(place);
    }
    if table.len() >= most {
        return None;
    }
    table.push(entry);
    Some(table.len() - 1)
}

impl Index<PortIndex> for Ports {
    type Output = Port;

    fn index(&self, index: PortIndex) -> &Port {
        &self.ports[index.0]
    }
}
