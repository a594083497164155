//! Seconds of all reports, in progress.

use std::collections::BTreeMap;
use std::ops::Range;

use inband_model::table::TotalRow;
use inband_model::{HopColumns, HopField, Nanos};

use crate::sketch::{BUCKETS, Sketch, bucket};

use super::roll_up::RollUp;

/// Seconds of all reports.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    rows: BTreeMap<Nanos, Total>,
    /// The latest second, with the counts of each latency and occupancy bucket.
    open: Option<(Nanos, [Vec<u32>; 2])>,
}

/// A second of all reports.
#[derive(Debug)]
struct Total {
    row: TotalRow,
    sketches: [Sketch; 2],
    /// Whether `row` lacks the text of the sketches.
    is_changed: bool,
}

impl RollUp for Totals {
    type Row = TotalRow;

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

    /// By time.
    fn rows(&mut self) -> Vec<TotalRow> {
        let row = |total: &mut Total| {
            if std::mem::take(&mut total.is_changed) {
                let [latency, occupancy] = &total.sketches;
                total.row.latency_sketch = latency.to_text();
                total.row.occupancy_sketch = occupancy.to_text();
            }
            total.row.clone()
        };
        self.rows.values_mut().map(row).collect()
    }

    fn bytes(&self) -> usize {
        let buckets = |total: &Total| total.sketches.iter().map(Sketch::bytes).sum::<usize>();
        self.rows.values().map(|total| size_of::<(Nanos, Total)>() + buckets(total)).sum()
    }
}

impl Totals {
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
        total.is_changed = true;
        for (sketch, counts) in total.sketches.iter_mut().zip(counts) {
            for (bucket, count) in (0..).zip(counts.iter_mut()).filter(|(_, count)| **count > 0) {
                sketch.add_many(bucket, std::mem::take(count).into());
            }
        }
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
        Self { row, sketches: Default::default(), is_changed: false }
    }
}

const SECOND_NS: u64 = 1_000_000_000;
