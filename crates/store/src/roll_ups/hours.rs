//! Hours of queues.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use inband_model::table::MinuteRow;
use inband_model::{Nanos, NodeId};

use crate::sketch::Sketch;

use super::queue_row::{MINUTE, tell};

/// Key of an hour: node, interface, queue, start.
type HourKey = (NodeId, Option<u16>, Option<u8>, Nanos);

/// The hours of these minutes, by place and time.
pub(crate) fn hours(minutes: &[MinuteRow]) -> Vec<MinuteRow> {
    let mut hours: BTreeMap<HourKey, (MinuteRow, Option<Sketch>)> = BTreeMap::new();
    for minute in minutes {
        let hour = Nanos(minute.minute.0 - minute.minute.0 % HOUR);
        let key = (minute.node_id, minute.egress_interface, minute.queue_id, hour);
        let entry = match hours.entry(key) {
            Entry::Vacant(entry) => {
                // Usually the only one.
                entry.insert((MinuteRow { minute: hour, ..minute.clone() }, None));
                continue;
            }
            Entry::Occupied(entry) => entry.into_mut(),
        };
        let (row, sketch) = entry;
        row.count += minute.count;
        row.latency_count += minute.latency_count;
        row.latency_max = row.latency_max.max(minute.latency_max);
        row.queue_occupancy_max = row.queue_occupancy_max.max(minute.queue_occupancy_max);
        row.dropped += minute.dropped;
        row.utilization_max = row.utilization_max.max(minute.utilization_max);
        let sketch = sketch.get_or_insert_with(|| Sketch::parse(&row.latency_sketch).unwrap_or_default());
        if let Some(part) = Sketch::parse(&minute.latency_sketch) {
            sketch.merge(&part);
        }
    }
    let finished = hours.into_values().map(|(mut row, sketch)| {
        sketch.iter().for_each(|sketch| tell(&mut row, sketch));
        row
    });
    finished.collect()
}

/// Nanoseconds per hour.
const HOUR: u64 = 60 * MINUTE;
