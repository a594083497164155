//! Selection of the nodes and queues that have their own series.
//!
//! The number of series is bounded, and ids come from the network, so not every id can have one. The most
//! active get one. A series is kept: it is replaced only after [`SILENCE`], or by a candidate more than
//! [`FACTOR`] times as active over minutes. Neither a flood of ids that report once nor two that alternate
//! thus end a series.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use inband_collector::{NodeView, QueueView};
use inband_model::{Nanos, NodeId};

/// The series of one reader of metrics.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) nodes: Series<NodeId>,
    pub(super) queues: Series<(NodeId, Option<u16>, u8)>,
}

/// The entries of one kind, with or without series.
#[derive(Debug)]
pub(super) struct Series<K> {
    most: usize,
    known: HashMap<K, Entry>,
    looked_at: Option<Duration>,
}

/// The current activity of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Activity {
    /// A value that only increases with reports, or the time of the latest report.
    pub(super) mark: u64,
    /// The current level, used instead of the growth of `mark`.
    pub(super) level: f64,
    /// Whether the growth of `mark` is the activity; otherwise it only shows that something was reported.
    pub(super) by_growth: bool,
}

/// The state of one entry.
#[derive(Debug, Clone, Copy)]
struct Entry {
    mark: u64,
    /// Activity, smoothed over [`SMOOTHING`].
    score: f64,
    /// When it was last reported.
    active_at: Duration,
    has_series: bool,
    /// Whether it is still known.
    is_known: bool,
}

impl Default for Chosen {
    fn default() -> Self {
        Self { nodes: Series::new(MAX_NODES), queues: Series::new(MAX_QUEUES) }
    }
}

impl Activity {
    /// Activity by reports of the node, and its hops on stacks of others.
    pub(super) fn of_node(node: &NodeView) -> Self {
        let hops = node.latency.map_or(0, |latency| latency.count);
        Self { mark: node.reports + hops, level: 0.0, by_growth: true }
    }

    /// Activity by the depth of a queue; an empty queue that is reported ranks before one that is not.
    pub(super) fn of_queue(queue: &QueueView, now: Nanos) -> Self {
        let is_fresh = now.since(queue.last_at) < FRESH;
        let level = f64::from(queue.recent) + f64::from(u8::from(is_fresh));
        Self { mark: queue.last_at.0, level, by_growth: false }
    }
}

impl<K: Copy + Eq + Hash + Ord> Series<K> {
    fn new(most: usize) -> Self {
        Self { most, known: HashMap::new(), looked_at: None }
    }

    /// Updates the activity of all entries known at `now`, a time since the start, and selects.
    pub(super) fn look(&mut self, now: Duration, activities: impl IntoIterator<Item = (K, Activity)>) {
        let passed = now.saturating_sub(self.looked_at.unwrap_or_default()).as_secs_f64().max(MIN_PASSED_S);
        // The first update is the only information about the time before it.
        let is_first = self.looked_at.is_none();
        let weight = if is_first { 1.0 } else { 1.0 - (-passed / SMOOTHING.as_secs_f64()).exp() };
        self.looked_at = Some(now);
        self.known.values_mut().for_each(|entry| entry.is_known = false);
        for (key, activity) in activities {
            let new = Entry { mark: 0, score: 0.0, active_at: now, has_series: false, is_known: true };
            self.known.entry(key).or_insert(new).take(now, passed, weight, activity);
        }
        self.known.retain(|_, entry| entry.is_known);
        self.choose(now);
    }

    /// Whether an entry has a series.
    pub(super) fn has(&self, key: &K) -> bool {
        self.known.get(key).is_some_and(|entry| entry.has_series)
    }

    /// The number of entries without a series.
    pub(super) fn left_out(&self) -> usize {
        self.known.values().filter(|entry| !entry.has_series).count()
    }

    fn choose(&mut self, now: Duration) {
        let by_score = |has_series: bool| {
            let entries = self.known.iter().filter(move |(_, entry)| entry.has_series == has_series);
            let mut keys: Vec<(f64, K)> = entries.map(|(key, entry)| (entry.rank(now), *key)).collect();
            keys.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            keys
        };
        let (mut chosen, others) = (by_score(true), by_score(false));
        let free = self.most.saturating_sub(chosen.len());
        for (place, (score, key)) in others.into_iter().enumerate() {
            if place >= free {
                // The least active entry with a series is last.
                let Some((least, out)) = chosen.pop() else { return };
                if score <= least.max(0.0) * FACTOR && least >= 0.0 || score < 0.0 {
                    return;
                }
                if let Some(entry) = self.known.get_mut(&out) {
                    entry.has_series = false;
                }
            }
            if let Some(entry) = self.known.get_mut(&key) {
                entry.has_series = true;
            }
        }
    }
}

impl Entry {
    /// Adds the activity of the last `passed` seconds to the score, with a weight of 0 to 1.
    fn take(&mut self, now: Duration, passed: f64, weight: f64, activity: Activity) {
        let growth = activity.mark.saturating_sub(self.mark);
        if growth > 0 {
            self.active_at = now;
        }
        self.mark = activity.mark;
        self.is_known = true;
        #[allow(clippy::cast_precision_loss, reason = "it is a score")]
        let level = if activity.by_growth { growth as f64 / passed } else { activity.level };
        self.score += (level - self.score) * weight;
    }

    /// The score, or -1 for an entry that has been silent for so long that its series may be replaced.
    fn rank(&self, now: Duration) -> f64 {
        if now.saturating_sub(self.active_at) >= SILENCE { -1.0 } else { self.score }
    }
}

/// Maximum number of nodes with series.
const MAX_NODES: usize = 1_000;
/// Maximum number of queues with series.
const MAX_QUEUES: usize = 1_000;
/// Silence after which a series may be replaced.
const SILENCE: Duration = Duration::from_secs(600);
/// Time over which activity is smoothed.
const SMOOTHING: Duration = Duration::from_secs(300);
/// Minimum time between two updates for rates, seconds.
const MIN_PASSED_S: f64 = 1.0;
/// How many times as active a replacement must be.
const FACTOR: f64 = 2.0;
/// Time after its last report for which a queue counts as reported.
const FRESH: Nanos = Nanos::from_secs(60);

#[cfg(test)]
mod tests;
