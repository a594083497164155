//! Minutes of queues, in progress.

use std::collections::HashMap;
use std::ops::Range;

use inband_model::table::MinuteRow;
use inband_model::{HopColumns, HopField, Nanos, NodeId, Values};

use crate::mixer::Seed;

use super::queue_row::{EMPTY, minute_of, tell};
use super::roll_up::RollUp;
use super::sketches::Sketches;

/// Minute roll-ups in progress.
#[derive(Debug, Default)]
pub(crate) struct Minutes {
    places: HashMap<Key, u32, Seed>,
    /// The key of the latest lookup, and its row.
    last: Option<(Key, u32)>,
    rows: Vec<MinuteRow>,
    /// The latencies of each row.
    latencies: Sketches,
}

/// Key of a minute: start, node, interface, queue.
type Key = (u64, u32, Option<u32>, Option<u32>);

impl RollUp for Minutes {
    type Row = MinuteRow;

    fn add(&mut self, columns: &HopColumns, reports: Range<usize>) {
        // Looked up once, as there are many hops.
        let narrow = |field| match columns.values(field) {
            Values::Narrow(values) => values,
            Values::Wide(_) => &[],
        };
        let (node, egress) = (narrow(HopField::NodeId), narrow(HopField::EgressInterface));
        let (queue, occupancy) = (narrow(HopField::QueueId), narrow(HopField::QueueOccupancy));
        let utilization = narrow(HopField::EgressUtilization);
        for index in reports {
            let report = &columns.reports()[index];
            let minute = minute_of(report.received_at).0;
            if report.hop_count == 0 {
                // The reporter dropped the packet, and tells nothing of where.
                if report.dropped {
                    let place = self.place((minute, report.reporter.0, None, None));
                    self.rows[place as usize].dropped += 1;
                }
                continue;
            }
            for hop in columns.hops_of(index) {
                let present = columns.present()[hop];
                let value = |values: &[u32], field: HopField| {
                    if field.is_in(present) { values.get(hop).copied() } else { None }
                };
                let node = value(node, HopField::NodeId).unwrap_or(0);
                let egress = value(egress, HopField::EgressInterface);
                let key = (minute, node, egress, value(queue, HopField::QueueId));
                let occupancy = value(occupancy, HopField::QueueOccupancy);
                let row = self.count(key, occupancy, columns.value(HopField::Latency, hop));
                row.utilization_max =
                    row.utilization_max.max(value(utilization, HopField::EgressUtilization));
            }
            // The node that dropped a packet is the last one in its report.
            if let Some(place) =
                self.last.as_ref().map(|(_, place)| *place as usize).filter(|_| report.dropped)
            {
                self.rows[place].dropped += 1;
            }
        }
    }

    /// The rows by time and place: a question about some minutes does not read the others, and the rows of a
    /// node are adjacent in each.
    fn rows(&mut self) -> Vec<MinuteRow> {
        self.latencies.take_changed(|row, sketch| tell(&mut self.rows[row], sketch));
        let mut rows = self.rows.clone();
        rows.sort_by_key(|row| (row.minute, row.node_id, row.egress_interface, row.queue_id));
        rows
    }

    fn bytes(&self) -> usize {
        self.rows.len() * BYTES_OF_ROW + self.latencies.bytes()
    }
}

impl Minutes {
    /// Counts a hop.
    #[inline]
    fn count(&mut self, key: Key, occupancy: Option<u32>, latency: Option<u64>) -> &mut MinuteRow {
        let place = self.place(key);
        let row = &mut self.rows[place as usize];
        row.count += 1;
        row.queue_occupancy_max = row.queue_occupancy_max.max(occupancy);
        if let Some(latency) = latency {
            row.latency_count += 1;
            row.latency_max = row.latency_max.max(Some(Nanos(latency)));
            self.latencies.add(place, latency);
        }
        row
    }

    /// Position of the row with this key.
    #[inline]
    fn place(&mut self, key: Key) -> u32 {
        match self.last {
            Some((same, place)) if same == key => place,
            _ => {
                let place = self.find(key);
                self.last = Some((key, place));
                place
            }
        }
    }

    fn find(&mut self, key: Key) -> u32 {
        let next = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            let (minute, node, interface, queue) = key;
            let row = MinuteRow {
                minute: Nanos(minute),
                node_id: NodeId(node),
                egress_interface: interface.and_then(|interface| u16::try_from(interface).ok()),
                queue_id: queue.and_then(|queue| u8::try_from(queue).ok()),
                ..EMPTY
            };
            self.rows.push(row);
        }
        place
    }
}

/// Bytes of a row with its key and text, approximately.
const BYTES_OF_ROW: usize = 400;

#[cfg(test)]
mod tests;
