//! Minutes of links, in progress.

use std::collections::HashMap;
use std::ops::Range;

use inband_model::table::LinkMinuteRow;
use inband_model::{HopColumns, HopField, Nanos, NodeId};

use crate::mixer::Seed;

use super::queue_row::minute_of;
use super::roll_up::RollUp;
use super::sketches::Sketches;

/// Key of a minute of a link: start, the node and interface that packets leave, those that they reach.
type LinkKey = (Nanos, NodeId, Option<u16>, NodeId, Option<u16>);

/// Minutes of links; only of reports with both ends.
#[derive(Debug, Default)]
pub(crate) struct LinkMinutes {
    places: HashMap<LinkKey, u32, Seed>,
    rows: Vec<LinkMinuteRow>,
    /// The latencies of each row.
    latencies: Sketches,
}

impl RollUp for LinkMinutes {
    type Row = LinkMinuteRow;

    fn add(&mut self, hops: &HopColumns, reports: Range<usize>) {
        let Self { places, rows, latencies } = self;
        for index in reports {
            let report = &hops.reports()[index];
            if report.hop_count < 2 {
                continue;
            }
            let range = hops.hops_of(index);
            for (left, came) in range.clone().zip(range.skip(1)) {
                let number = |field, hop| hops.value(field, hop);
                let place = |hop| number(HopField::HopIndex, hop);
                // There are unreported hops in between.
                if place(left).map(|place| place + 1) != place(came) {
                    continue;
                }
                let node = |hop| {
                    number(HopField::NodeId, hop)
                        .and_then(|node| u32::try_from(node).ok())
                        .map_or(NodeId::NOT_AVAILABLE, NodeId)
                };
                let interface =
                    |field, hop| number(field, hop).and_then(|interface| u16::try_from(interface).ok());
                let minute = minute_of(report.received_at);
                let (from, to) = (node(left), node(came));
                let egress_interface = interface(HopField::EgressInterface, left);
                let ingress_interface = interface(HopField::IngressInterface, came);
                let key = (minute, from, egress_interface, to, ingress_interface);
                let next = u32::try_from(rows.len()).unwrap_or(u32::MAX);
                let place = *places.entry(key).or_insert(next);
                if place == next {
                    rows.push(LinkMinuteRow {
                        minute,
                        from,
                        egress_interface,
                        to,
                        ingress_interface,
                        count: 0,
                        latency_count: 0,
                        negative_count: 0,
                        latency_max: None,
                        latency_sketch: String::new(),
                    });
                }
                let row = &mut rows[place as usize];
                row.count += 1;
                // A 32-bit clock wraps within seconds and cannot be compared with another.
                let wide = |field, hop| number(field, hop).filter(|time| *time > u32::MAX.into());
                let times = wide(HopField::EgressTimestamp, left).zip(wide(HopField::IngressTimestamp, came));
                match times.map(|(left, came)| came.checked_sub(left)) {
                    None => {}
                    Some(None) => row.negative_count += 1,
                    Some(Some(latency)) => {
                        row.latency_count += 1;
                        row.latency_max = row.latency_max.max(Some(Nanos(latency)));
                        latencies.add(place, latency);
                    }
                }
            }
        }
    }

    /// By time and link.
    fn rows(&mut self) -> Vec<LinkMinuteRow> {
        self.latencies.take_changed(|row, sketch| self.rows[row].latency_sketch = sketch.to_text());
        let mut rows = self.rows.clone();
        rows.sort_by_key(|row| (row.minute, row.from, row.egress_interface, row.to, row.ingress_interface));
        rows
    }

    fn bytes(&self) -> usize {
        self.rows.len() * (size_of::<LinkKey>() + size_of::<LinkMinuteRow>()) + self.latencies.bytes()
    }
}
