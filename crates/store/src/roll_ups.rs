//! What is left of hops for long times: minutes and hours of queues, minutes of flows and of links.
//!
//! They are made of the rows of a log, by the flusher when the log becomes segments, and by whoever asks before that; so
//! they hold what the rows hold, also after a crash.

use std::collections::HashMap;
use std::ops::Range;

use inband_model::table::{FlowMinuteRow, LinkMinuteRow, MinuteRow};
use inband_model::{Flow, HopColumns, HopField, Nanos, NodeId};

use crate::minutes::{MINUTE, Minutes, Sketch, hours};
use crate::mixer::Seed;

/// The roll-ups of some hops.
#[derive(Debug, Default)]
pub(crate) struct RollUps {
    pub(crate) minutes: Vec<MinuteRow>,
    pub(crate) hours: Vec<MinuteRow>,
    pub(crate) flows: Vec<FlowMinuteRow>,
    pub(crate) links: Vec<LinkMinuteRow>,
}

impl RollUps {
    /// The roll-ups of these hops.
    pub(crate) fn of(hops: &HopColumns) -> Self {
        let mut counted = Counted::default();
        counted.add(hops, 0..hops.reports().len());
        counted.roll_ups()
    }
}

/// What roll-ups are made of, while reports are counted.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    minutes: Minutes,
    flows: FlowMinutes,
    links: LinkMinutes,
}

impl Counted {
    /// Counts some reports.
    pub(crate) fn add(&mut self, hops: &HopColumns, reports: Range<usize>) {
        self.minutes.add(hops, reports.clone());
        self.flows.add(hops, reports.clone());
        self.links.add(hops, reports);
    }

    /// The roll-ups of what was counted so far.
    pub(crate) fn roll_ups(&self) -> RollUps {
        let minutes = self.minutes.rows();
        RollUps { hours: hours(&minutes), minutes, flows: self.flows.rows(), links: self.links.rows() }
    }

    /// Bytes it takes in memory, about.
    pub(crate) fn bytes(&self) -> usize {
        let links = self.links.places.len() * (size_of::<LinkKey>() + size_of::<(LinkMinuteRow, Sketch)>());
        let flows = self.flows.rows.len() * (size_of::<(Nanos, Flow)>() + size_of::<FlowMinuteRow>());
        self.minutes.bytes() + links + flows
    }
}

fn minute_of(time: Nanos) -> Nanos {
    Nanos(time.0 - time.0 % MINUTE)
}

/// The minutes of flows while they are counted.
#[derive(Debug, Default)]
struct FlowMinutes {
    places: HashMap<(Nanos, Flow), usize, Seed>,
    rows: Vec<FlowMinuteRow>,
}

impl FlowMinutes {
    fn add(&mut self, hops: &HopColumns, reports: Range<usize>) {
        let Self { places, rows } = self;
        for index in reports {
            let report = &hops.reports()[index];
            let Some(flow) = report.flow else { continue };
            let minute = minute_of(report.received_at);
            let place = *places.entry((minute, flow)).or_insert_with(|| {
                rows.push(FlowMinuteRow {
                    minute,
                    flow,
                    reports: 0,
                    latency_count: 0,
                    latency_sum: 0,
                    latency_max: None,
                    hop_latency_max: None,
                    dropped: 0,
                });
                rows.len() - 1
            });
            let row = &mut rows[place];
            row.reports += 1;
            row.dropped += u64::from(report.dropped);
            let latencies = || hops.hops_of(index).filter_map(|hop| hops.value(HopField::Latency, hop));
            if let Some(longest) = latencies().max() {
                let sum = latencies().fold(0_u64, u64::saturating_add);
                row.latency_count += 1;
                row.latency_sum = row.latency_sum.saturating_add(sum);
                row.latency_max = row.latency_max.max(Some(Nanos(sum)));
                row.hop_latency_max = row.hop_latency_max.max(Some(Nanos(longest)));
            }
        }
    }

    /// By flow and time.
    fn rows(&self) -> Vec<FlowMinuteRow> {
        let mut rows = self.rows.clone();
        rows.sort_by_cached_key(|row| (row.flow.id(), row.minute));
        rows
    }
}

/// A minute of a link: its start, the node and interface packets leave, those they come to.
type LinkKey = (Nanos, NodeId, Option<u16>, NodeId, Option<u16>);

/// The minutes of links, of reports that hold both ends, while they are counted.
#[derive(Debug, Default)]
struct LinkMinutes {
    places: HashMap<LinkKey, (LinkMinuteRow, Sketch), Seed>,
}

impl LinkMinutes {
    fn add(&mut self, hops: &HopColumns, reports: Range<usize>) {
        let places = &mut self.places;
        for index in reports {
            let report = &hops.reports()[index];
            if report.hop_count < 2 {
                continue;
            }
            let range = hops.hops_of(index);
            for (left, came) in range.clone().zip(range.skip(1)) {
                let number = |field, hop| hops.value(field, hop);
                let place = |hop| number(HopField::HopIndex, hop);
                // Hops that are not told stand between the others.
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
                let (row, sketch) = places.entry(key).or_insert_with(|| {
                    let row = LinkMinuteRow {
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
                    };
                    (row, Sketch::default())
                });
                row.count += 1;
                // A clock of 32 bits goes round within seconds, and says nothing beside another.
                let wide = |field, hop| number(field, hop).filter(|time| *time > u32::MAX.into());
                let times = wide(HopField::EgressTimestamp, left).zip(wide(HopField::IngressTimestamp, came));
                match times.map(|(left, came)| came.checked_sub(left)) {
                    None => {}
                    Some(None) => row.negative_count += 1,
                    Some(Some(latency)) => {
                        row.latency_count += 1;
                        row.latency_max = row.latency_max.max(Some(Nanos(latency)));
                        sketch.add(latency);
                    }
                }
            }
        }
    }

    /// By time and link.
    fn rows(&self) -> Vec<LinkMinuteRow> {
        let row = |(row, sketch): &(LinkMinuteRow, Sketch)| LinkMinuteRow {
            latency_sketch: sketch.to_text(),
            ..row.clone()
        };
        let mut rows: Vec<LinkMinuteRow> = self.places.values().map(row).collect();
        rows.sort_by_key(|row| (row.minute, row.from, row.egress_interface, row.to, row.ingress_interface));
        rows
    }
}

#[cfg(test)]
mod tests;
