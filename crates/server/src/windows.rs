//! Distributions of recent values: the last ten seconds, minute and ten minutes, for the live page.

mod buckets;
mod ring;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use inband_collector::Output;
use inband_export::Stage;
use inband_model::api::{Window, WindowValues};
use inband_model::{HopColumns, HopField, NodeId, ReportRecord};

pub(crate) use self::buckets::Sums;
use self::ring::Ring;

/// A node and its egress interface.
pub(crate) type PortKey = (NodeId, Option<u16>);
/// A queue of an egress interface.
pub(crate) type QueueKey = (NodeId, Option<u16>, u8);
/// A link: node and interface that packets leave by, then those they enter by.
pub(crate) type LinkKey = (NodeId, Option<u16>, NodeId, Option<u16>);

/// The stage that keeps recent values of nodes, interfaces, queues and links. Clones share one state.
#[derive(Debug, Clone)]
pub struct Windows {
    followed: Arc<Mutex<Followed>>,
    answers: Arc<Mutex<Answers>>,
}

/// The latest answers, with their creation times.
type Answers = BTreeMap<Window, (Instant, Arc<Lately>)>;

/// The values kept.
#[derive(Debug)]
struct Followed {
    ports: Ring<PortKey>,
    queues: Ring<QueueKey>,
    links: Ring<LinkKey>,
    max_bytes: usize,
}

/// Recent values, in one window.
#[derive(Debug, Default)]
pub(crate) struct Lately {
    /// Hop latency by egress interface.
    pub(crate) ports: BTreeMap<PortKey, Sums>,
    /// Occupancy by queue.
    pub(crate) queues: BTreeMap<QueueKey, Sums>,
    /// Link latency by link.
    pub(crate) links: BTreeMap<LinkKey, Sums>,
}

impl Windows {
    /// Creates the stage without values. It takes at most about `max_bytes`; the oldest values are evicted
    /// first.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        let followed = Followed { ports: Ring::new(), queues: Ring::new(), links: Ring::new(), max_bytes };
        Self { followed: Arc::new(Mutex::new(followed)), answers: Arc::default() }
    }

    /// The recent values up to `now`, seconds since 1970. Requests within half a second share an answer.
    pub(crate) fn lately(&self, window: Window, now: u64) -> Arc<Lately> {
        // Concurrent requests wait for the same answer.
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, lately)) = answers.get(&window)
            && at.elapsed() < ANSWER_AGE
        {
            return Arc::clone(lately);
        }
        let seconds = window.seconds();
        let (ports, queues, links) = {
            let followed = self.followed();
            (
                followed.ports.parts(seconds, now),
                followed.queues.parts(seconds, now),
                followed.links.parts(seconds, now),
            )
        };
        let lately = Arc::new(Lately { ports: ports.sums(), queues: queues.sums(), links: links.sums() });
        answers.insert(window, (Instant::now(), Arc::clone(&lately)));
        lately
    }

    /// Approximate memory use, bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.followed().bytes()
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        // Counts are consistent at any time.
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lately {
    /// Hop latency in a node, over all its interfaces.
    pub(crate) fn node(&self, node: NodeId) -> Option<WindowValues> {
        let of_node = self.ports.range((node, None)..=(node, Some(u16::MAX)));
        let mut all = Sums::default();
        of_node.for_each(|(_, sums)| all.merge(sums));
        all.values()
    }
}

impl Followed {
    fn handle_hops(&mut self, hops: &HopColumns) {
        let value = |field, hop| hops.value(field, hop);
        let short = |field, hop| value(field, hop).and_then(|value| u16::try_from(value).ok());
        for (place, report) in hops.reports().iter().enumerate() {
            let second = seconds_of(report);
            self.turn(second);
            // The previous hop, and when the packet left it.
            let mut before: Option<(u64, NodeId, Option<u16>, u64)> = None;
            for hop in hops.hops_of(place) {
                let node = value(HopField::NodeId, hop).and_then(|node| u32::try_from(node).ok());
                let node = node.map_or(NodeId::NOT_AVAILABLE, NodeId);
                if node == NodeId::NOT_AVAILABLE {
                    before = None;
                    continue;
                }
                let interface = short(HopField::EgressInterface, hop);
                if let Some(latency) = value(HopField::Latency, hop) {
                    self.ports.record((node, interface), latency);
                }
                let (queue, depth) = (value(HopField::QueueId, hop), value(HopField::QueueOccupancy, hop));
                if let (Some(queue), Some(depth)) = (queue, depth) {
                    self.queues.record((node, interface, u8::try_from(queue).unwrap_or(u8::MAX)), depth);
                }
                // A 32-bit clock cannot be compared with another clock.
                let wide = |time: &u64| *time > u64::from(u32::MAX);
                let number = value(HopField::HopIndex, hop).unwrap_or(0);
                let came = value(HopField::IngressTimestamp, hop).filter(wide);
                if let (Some((last, from, by, left)), Some(came)) = (before, came)
                    && last + 1 == number
                {
                    self.links.record(
                        (from, by, node, short(HopField::IngressInterface, hop)),
                        came.saturating_sub(left),
                    );
                }
                let left = value(HopField::EgressTimestamp, hop).filter(wide);
                before = left.map(|left| (number, node, interface, left));
            }
        }
    }

    /// Starts a new second if `second` is one.
    fn turn(&mut self, second: u64) {
        let turned = self.ports.turn(second) | self.queues.turn(second) | self.links.turn(second);
        while turned && self.bytes() > self.max_bytes {
            let is_less = self.ports.drop_oldest() | self.queues.drop_oldest() | self.links.drop_oldest();
            if !is_less {
                break;
            }
        }
    }

    fn bytes(&self) -> usize {
        self.ports.bytes() + self.queues.bytes() + self.links.bytes()
    }
}

impl Stage for Windows {
    fn handle_output(&mut self, _output: &Output) {}

    fn wants_hops(&self) -> bool {
        true
    }

    fn handle_hops(&mut self, hops: &HopColumns, _reports: u64) {
        self.followed().handle_hops(hops);
    }
}

/// The second in which a report arrived.
fn seconds_of(report: &ReportRecord) -> u64 {
    report.received_at.0 / 1_000_000_000
}

/// Time for which an answer is used.
const ANSWER_AGE: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests;
