//! Seconds of queues that differ from their minutes.
//!
//! A second is kept if more than one in a hundred of its hops took four times the median of its minute, if a
//! report told of congestion or a drop, or, for nodes without latencies, if the queue was deeper than a tenth
//! of the minute's maximum. Other seconds are described well enough by their minute.

use std::collections::{BTreeMap, HashMap};

use inband_model::table::MinuteRow;
use inband_model::{HopColumns, HopField, Nanos, NodeId};

use crate::mixer::Seed;
use crate::roll_ups::{EMPTY, MINUTE, tell};
use crate::sketch::Sketch;

/// Key of a second or minute: start, node, interface, queue.
type Key = (u64, u32, Option<u16>, Option<u8>);

/// What distinguishes a second from its minute.
#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    with_latency: u32,
    slow: u32,
    is_marked: bool,
}

/// The thresholds of a minute.
#[derive(Debug, Clone, Copy)]
struct Usual {
    slow_from: Option<u64>,
    deep_from: Option<u32>,
}

/// A hop of a report.
#[derive(Debug, Clone, Copy)]
struct Hop {
    time: Nanos,
    place: (u32, Option<u16>, Option<u8>),
    latency: Option<u64>,
    occupancy: Option<u32>,
    utilization: Option<u32>,
    /// Whether the packet was dropped here.
    is_dropped: bool,
    /// Whether the packet met a congested queue here.
    is_congested: bool,
}

/// The seconds that differ from their minutes, in order of time; at most [`MAX_SECONDS`], those with the
/// slowest hops.
pub(crate) fn seconds<'a>(
    parts: impl Iterator<Item = &'a HopColumns> + Clone,
    minutes: &[MinuteRow],
) -> Vec<MinuteRow> {
    let usual: HashMap<Key, Usual, Seed> = minutes.iter().map(usual).collect();
    let mut signs: HashMap<Key, Signs, Seed> = HashMap::default();
    for hop in parts.clone().flat_map(hops) {
        let Some(usual) = usual.get(&hop.key(MINUTE)) else { continue };
        let signs = signs.entry(hop.key(SECOND)).or_default();
        signs.with_latency += u32::from(hop.latency.is_some());
        let is_slow = hop.latency.zip(usual.slow_from).is_some_and(|(latency, from)| latency > from);
        let is_deep = hop.latency.is_none()
            && hop.occupancy.zip(usual.deep_from).is_some_and(|(occupancy, from)| occupancy > from);
        signs.slow += u32::from(is_slow);
        signs.is_marked |= is_deep || hop.is_dropped || hop.is_congested;
    }
    signs.retain(|_, signs| signs.is_marked || u64::from(signs.slow) * 100 > u64::from(signs.with_latency));
    if signs.len() > MAX_SECONDS {
        let mut slowest: Vec<(u32, Key)> = signs.iter().map(|(key, signs)| (signs.slow, *key)).collect();
        slowest.sort_unstable_by(|a, b| b.cmp(a));
        for (_, key) in slowest.drain(MAX_SECONDS..) {
            signs.remove(&key);
        }
    }
    let mut rows: BTreeMap<Key, (MinuteRow, Sketch)> = BTreeMap::new();
    if signs.is_empty() {
        return Vec::new();
    }
    for hop in parts.flat_map(hops) {
        let key = hop.key(SECOND);
        if signs.contains_key(&key) {
            let (row, sketch) = rows.entry(key).or_insert_with(|| (row(key), Sketch::default()));
            hop.count(row, sketch);
        }
    }
    let finished = rows.into_values().map(|(mut row, sketch)| {
        tell(&mut row, &sketch);
        row
    });
    finished.collect()
}

fn usual(minute: &MinuteRow) -> (Key, Usual) {
    let key = (minute.minute.0, minute.node_id.0, minute.egress_interface, minute.queue_id);
    let slow_from = minute.latency_quantiles.map(|[median, ..]| median.0.saturating_mul(4));
    (key, Usual { slow_from, deep_from: minute.queue_occupancy_max.map(|max| max / 10) })
}

fn hops(columns: &HopColumns) -> impl Iterator<Item = Hop> {
    columns.reports().iter().enumerate().filter(|(_, report)| report.hop_count > 0).flat_map(
        move |(index, report)| {
            let range = columns.hops_of(index);
            // A report's drop and congestion flags refer to the last node in it.
            let last = range.end.wrapping_sub(1);
            range.map(move |hop| {
                let narrow = |field| columns.value(field, hop).and_then(|value| u32::try_from(value).ok());
                Hop {
                    time: report.received_at,
                    place: (
                        narrow(HopField::NodeId).unwrap_or(0),
                        narrow(HopField::EgressInterface).and_then(|value| u16::try_from(value).ok()),
                        narrow(HopField::QueueId).and_then(|value| u8::try_from(value).ok()),
                    ),
                    latency: columns.value(HopField::Latency, hop),
                    occupancy: narrow(HopField::QueueOccupancy),
                    utilization: narrow(HopField::EgressUtilization),
                    is_dropped: report.dropped && hop == last,
                    is_congested: report.congested_queue && hop == last,
                }
            })
        },
    )
}

fn row((second, node, egress_interface, queue_id): Key) -> MinuteRow {
    MinuteRow { minute: Nanos(second), node_id: NodeId(node), egress_interface, queue_id, ..EMPTY }
}

impl Hop {
    fn key(&self, span: u64) -> Key {
        let (node, interface, queue) = self.place;
        (self.time.0 - self.time.0 % span, node, interface, queue)
    }

    fn count(&self, row: &mut MinuteRow, sketch: &mut Sketch) {
        row.count += 1;
        row.dropped += u64::from(self.is_dropped);
        row.queue_occupancy_max = row.queue_occupancy_max.max(self.occupancy);
        row.utilization_max = row.utilization_max.max(self.utilization);
        if let Some(latency) = self.latency {
            row.latency_count += 1;
            row.latency_max = row.latency_max.max(Some(Nanos(latency)));
            sketch.add(latency);
        }
    }
}

const SECOND: u64 = 1_000_000_000;
/// Maximum seconds per log.
const MAX_SECONDS: usize = 65_536;

#[cfg(test)]
mod tests {
    use inband_model::{HopColumns, HopRecord, Nanos, NodeId};

    use super::seconds;
    use crate::roll_ups::RollUps;

    fn hop(millis: u64, latency: u64) -> HopRecord {
        HopRecord {
            received_at: Nanos::from_millis(600_000 + millis),
            sequence: u32::try_from(millis).unwrap(),
            hop_count: 1,
            node_id: NodeId(7),
            egress_interface: Some(2),
            queue_id: Some(0),
            latency: Some(Nanos(latency)),
            queue_occupancy: Some(u32::try_from(latency / 100).unwrap()),
            ..HopRecord::default()
        }
    }

    fn of(hops: &[HopRecord]) -> Vec<(u64, u64, Option<u64>)> {
        let columns = HopColumns::from(hops);
        let minutes = RollUps::of(&columns).minutes;
        let rows = seconds(std::iter::once(&columns), &minutes);
        rows.iter()
            .map(|row| (row.minute.0 / 1_000_000_000, row.count, row.latency_max.map(|max| max.0)))
            .collect()
    }

    #[test]
    fn a_second_is_kept_where_it_is_slower_than_its_minute() {
        let mut hops: Vec<HopRecord> = (0..6_000).map(|at| hop(at * 10, 1_000)).collect();
        // One in a hundred in the third second, two in the fifth.
        hops[250].latency = Some(Nanos(9_000));
        hops[450].latency = Some(Nanos(9_000));
        hops[451].latency = Some(Nanos(9_000));
        assert_eq!(of(&hops), [(604, 100, Some(9_000))]);
    }

    #[test]
    fn a_second_with_a_drop_or_with_congestion_is_kept() {
        let mut hops: Vec<HopRecord> = (0..600).map(|at| hop(at * 100, 1_000)).collect();
        hops[11].dropped = true;
        hops[35].congested_queue = true;
        assert_eq!(of(&hops), [(601, 10, Some(1_000)), (603, 10, Some(1_000))]);
    }

    #[test]
    fn depth_counts_where_no_latency_is_told() {
        let mut hops: Vec<HopRecord> = (0..600).map(|at| hop(at * 100, 1_000)).collect();
        hops.iter_mut().for_each(|hop| (hop.latency, hop.queue_occupancy) = (None, Some(3)));
        hops[42].queue_occupancy = Some(30);
        assert_eq!(of(&hops), [(604, 10, None)]);
    }
}
