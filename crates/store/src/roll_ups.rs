//! Long-term roll-ups of hops: minutes and hours of queues, minutes of flows and links, seconds of all
//! reports.
//!
//! They are made from the rows of a log, by the flusher when the log becomes segments and by questions before
//! that; so they agree with the rows, even after a crash.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use inband_model::table::{FlowMinuteRow, LinkMinuteRow, MinuteRow, TotalRow};
use inband_model::{Flow, HopColumns, HopField, Nanos, NodeId};

use crate::minutes::{BUCKETS, MINUTE, Minutes, Sketch, bucket, hours};
use crate::mixer::Seed;

/// The roll-ups of some hops.
#[derive(Debug, Default)]
pub(crate) struct RollUps {
    pub(crate) minutes: Vec<MinuteRow>,
    pub(crate) hours: Vec<MinuteRow>,
    pub(crate) flows: Vec<FlowMinuteRow>,
    pub(crate) links: Vec<LinkMinuteRow>,
    pub(crate) totals: Vec<TotalRow>,
}

impl RollUps {
    /// The roll-ups of these hops.
    pub(crate) fn of(hops: &HopColumns) -> Self {
        let mut counted = Counted::default();
        counted.add(hops, 0..hops.reports().len());
        counted.roll_ups()
    }
}

/// The counts behind roll-ups, in progress.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    minutes: Minutes,
    flows: FlowMinutes,
    links: LinkMinutes,
    totals: Totals,
}

impl Counted {
    /// Counts some reports.
    pub(crate) fn add(&mut self, hops: &HopColumns, reports: Range<usize>) {
        self.minutes.add(hops, reports.clone());
        self.flows.add(hops, reports.clone());
        self.links.add(hops, reports.clone());
        self.totals.add(hops, reports);
    }

    /// The roll-ups of what has been counted.
    fn roll_ups(&self) -> RollUps {
        let minutes = self.minutes();
        let (flows, links, totals) = (self.flows(), self.links(), self.totals());
        RollUps { hours: hours(&minutes), minutes, flows, links, totals }
    }

    /// Minutes of queues, by place and time.
    pub(crate) fn minutes(&self) -> Vec<MinuteRow> {
        self.minutes.rows()
    }

    /// Minutes of flows, by flow and time.
    pub(crate) fn flows(&self) -> Vec<FlowMinuteRow> {
        self.flows.rows()
    }

    /// Minutes of links, by time and link.
    pub(crate) fn links(&self) -> Vec<LinkMinuteRow> {
        self.links.rows()
    }

    /// Seconds of all reports, by time.
    pub(crate) fn totals(&self) -> Vec<TotalRow> {
        self.totals.rows()
    }

    /// Bytes of memory, approximately.
    pub(crate) fn bytes(&self) -> usize {
        let links = self.links.places.len() * (size_of::<LinkKey>() + size_of::<(LinkMinuteRow, Sketch)>());
        let flows = self.flows.rows.len() * (size_of::<(Nanos, Flow)>() + size_of::<FlowMinuteRow>());
        self.minutes.bytes() + links + flows + self.totals.bytes()
    }
}

fn minute_of(time: Nanos) -> Nanos {
    Nanos(time.0 - time.0 % MINUTE)
}

/// Minutes of flows, in progress.
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

/// Key of a minute of a link: start, the node and interface that packets leave, those that they reach.
type LinkKey = (Nanos, NodeId, Option<u16>, NodeId, Option<u16>);

/// Minutes of links, in progress; only of reports with both ends.
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
                // A 32-bit clock wraps within seconds and cannot be compared with another.
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

/// Seconds of all reports, in progress.
#[derive(Debug, Default)]
struct Totals {
    rows: BTreeMap<Nanos, Total>,
    /// The latest second, with the counts of each latency and occupancy bucket.
    open: Option<(Nanos, [Vec<u32>; 2])>,
}

/// A second of all reports.
#[derive(Debug)]
struct Total {
    row: TotalRow,
    sketches: [Sketch; 2],
}

impl Totals {
    fn add(&mut self, hops: &HopColumns, reports: Range<usize>) {
        for index in reports {
            let report = &hops.reports()[index];
            let second = Nanos(report.received_at.0 - report.received_at.0 % SECOND_NS);
            self.turn(second);
            let row = &mut self.rows.entry(second).or_insert_with(|| Total::new(second)).row;
            row.reports += 1;
            row.dropped += u64::from(report.dropped);
            if report.hop_count == 0 {
                // Its row is not a hop.
                continue;
            }
            row.hops += hops.hops_of(index).len() as u64;
            let Some((_, open)) = &mut self.open else { continue };
            let mut most = [None; 2];
            for hop in hops.hops_of(index) {
                for (place, field) in [HopField::Latency, HopField::QueueOccupancy].into_iter().enumerate() {
                    let Some(value) = hops.value(field, hop) else { continue };
                    most[place] = most[place].max(Some(value));
                    open[place][bucket(value) as usize] += 1;
                }
            }
            row.latency_max = row.latency_max.max(most[0].map(Nanos));
            row.occupancy_max = row.occupancy_max.max(most[1].and_then(|most| u32::try_from(most).ok()));
        }
        self.close();
    }

    /// Starts another second if `second` is a different one.
    fn turn(&mut self, second: Nanos) {
        if self.open.as_ref().is_some_and(|(open, _)| *open == second) {
            return;
        }
        self.close();
        let counts = match self.open.take() {
            Some((_, counts)) => counts,
            None => [(); 2].map(|()| vec![0; BUCKETS]),
        };
        self.open = Some((second, counts));
    }

    /// Moves the counts into the sketches of their second.
    fn close(&mut self) {
        let Some((second, counts)) = &mut self.open else { return };
        let Some(total) = self.rows.get_mut(second) else { return };
        for (sketch, counts) in total.sketches.iter_mut().zip(counts) {
            for (bucket, count) in (0..).zip(counts.iter_mut()).filter(|(_, count)| **count > 0) {
                sketch.add_many(bucket, std::mem::take(count).into());
            }
        }
    }

    /// By time.
    fn rows(&self) -> Vec<TotalRow> {
        let row = |Total { row, sketches: [latency, occupancy] }: &Total| TotalRow {
            latency_sketch: latency.to_text(),
            occupancy_sketch: occupancy.to_text(),
            ..row.clone()
        };
        self.rows.values().map(row).collect()
    }

    fn bytes(&self) -> usize {
        let buckets = |total: &Total| total.sketches.iter().map(Sketch::bytes).sum::<usize>();
        self.rows.values().map(|total| size_of::<(Nanos, Total)>() + buckets(total)).sum()
    }
}

impl Total {
    fn new(second: Nanos) -> Self {
        let row = TotalRow {
            second,
            reports: 0,
            hops: 0,
            latency_max: None,
            occupancy_max: None,
            latency_sketch: String::new(),
            occupancy_sketch: String::new(),
            dropped: 0,
        };
        Self { row, sketches: Default::default() }
    }
}

const SECOND_NS: u64 = 1_000_000_000;

#[cfg(test)]
mod tests;
