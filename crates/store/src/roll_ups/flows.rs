//! Minutes of flows, in progress.

use std::collections::HashMap;
use std::ops::Range;

use inband_model::table::FlowMinuteRow;
use inband_model::{Flow, HopColumns, HopField, Nanos};

use crate::mixer::Seed;

use super::queue_row::minute_of;
use super::roll_up::RollUp;

/// Minutes of flows.
#[derive(Debug, Default)]
pub(crate) struct FlowMinutes {
    places: HashMap<(Nanos, Flow), usize, Seed>,
    rows: Vec<FlowMinuteRow>,
}

impl RollUp for FlowMinutes {
    type Row = FlowMinuteRow;

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
    fn rows(&mut self) -> Vec<FlowMinuteRow> {
        let mut rows = self.rows.clone();
        rows.sort_by_cached_key(|row| (row.flow.id(), row.minute));
        rows
    }

    fn bytes(&self) -> usize {
        self.rows.len() * (size_of::<(Nanos, Flow)>() + size_of::<FlowMinuteRow>())
    }
}
