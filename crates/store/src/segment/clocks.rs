//! Timestamps of nodes, stored in segments as offsets.
//!
//! Most bits of a clock reading follow from the report's time, the latency and the other hops. So a segment
//! stores
//!
//! * `report_delay`: the report's time minus the anchor, which is the egress timestamp of its last hop, or
//!   the ingress timestamp if there is none, or those of the last hop that has timestamps;
//! * `egress_offset`: the anchor minus the egress timestamp, 0 for the last hop;
//! * `ingress_offset`: the egress timestamp minus the latency, but at least 0, minus the ingress timestamp:
//!   mostly 0. A missing egress timestamp is replaced by the anchor, a missing latency by 0.

use inband_model::table::{Kind, Shape};

use crate::history::ColumnData;

/// A column of the table that a segment stores as an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    Ingress,
    Egress,
}

impl Clock {
    /// The clock of a column of `observations`.
    pub(super) fn of(column: &str) -> Option<Self> {
        match column {
            "ingress_timestamp" => Some(Self::Ingress),
            "egress_timestamp" => Some(Self::Egress),
            _ => None,
        }
    }

    /// The column that stores its offsets.
    pub(super) fn offset(self) -> &'static str {
        match self {
            Self::Ingress => "ingress_offset",
            Self::Egress => "egress_offset",
        }
    }
}

/// The columns that a segment of `observations` stores.
pub(super) fn stored(shape: &Shape) -> Shape {
    let mut stored = shape.clone();
    for (name, ..) in &mut stored.columns {
        if let Some(clock) = Clock::of(name) {
            *name = clock.offset();
        }
    }
    stored.columns.push((DELAY, Kind::Integer, true, "time less the anchor of the report's timestamps"));
    stored
}

/// The offset of an egress timestamp. No argument is negative, here and below.
pub(super) fn offset_of_egress(anchor: i64, egress: i64) -> i64 {
    anchor - egress
}

/// The offset of an ingress timestamp.
pub(super) fn offset_of_ingress(anchor: i64, egress: Option<i64>, latency: Option<i64>, ingress: i64) -> i64 {
    expected(egress.unwrap_or(anchor), latency) - ingress
}

/// Anchors from the times of reports and their delays.
pub(super) fn anchors(times: &ColumnData, delays: ColumnData) -> ColumnData {
    subtracted(delays, |row| times.integer(row))
}

/// Egress timestamps from anchors and offsets.
pub(super) fn egress(anchors: &ColumnData, offsets: ColumnData) -> ColumnData {
    subtracted(offsets, |row| anchors.integer(row))
}

/// Ingress timestamps from anchors, egress timestamps, latencies and offsets.
pub(super) fn ingress(
    anchors: &ColumnData,
    egress: &ColumnData,
    latencies: &ColumnData,
    offsets: ColumnData,
) -> ColumnData {
    let base = |row| egress.integer(row).or_else(|| anchors.integer(row));
    subtracted(offsets, |row| Some(expected(base(row)?, latencies.integer(row))))
}

/// A value minus each offset.
fn subtracted(offsets: ColumnData, from: impl Fn(usize) -> Option<i64>) -> ColumnData {
    let ColumnData::Integers { mut values, valid } = offsets else { return offsets };
    for (row, value) in values.iter_mut().enumerate() {
        *value = match &valid {
            Some(valid) if !valid[row] => 0,
            _ => from(row).unwrap_or(0).saturating_sub(*value),
        };
    }
    ColumnData::Integers { values, valid }
}

fn expected(egress: i64, latency: Option<i64>) -> i64 {
    egress.saturating_sub(latency.unwrap_or(0)).max(0)
}

/// The columns that timestamps are computed from, and that are read for themselves as well.
pub(super) const BASES: [&str; 3] = ["time", "hop_latency", "egress_timestamp"];
/// The column of delays.
pub(super) const DELAY: &str = "report_delay";

#[cfg(test)]
mod tests;
