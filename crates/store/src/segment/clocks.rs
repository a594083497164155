//! The timestamps of nodes, which segments hold as offsets.
//!
//! A clock reading has few bits that the time of the report, the latency and the other hops do not tell. So a segment has
//!
//! * `report_delay`: the time of the report less the anchor, which is the egress timestamp of its last hop, or the ingress
//!   timestamp where there is none; of hops without timestamps the last but one, and so on;
//! * `egress_offset`: the anchor less the egress timestamp, 0 for the last hop;
//! * `ingress_offset`: the egress timestamp less the latency, but at least 0, less the ingress timestamp: mostly 0. The
//!   anchor stands in for an egress timestamp that is missing, 0 for a latency.

use inband_model::table::{Kind, Shape};

use crate::history::ColumnData;

/// A column of the table that a segment holds as an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    Ingress,
    Egress,
}

impl Clock {
    /// The clock of a column of the observations.
    pub(super) fn of(column: &str) -> Option<Self> {
        match column {
            "ingress_timestamp" => Some(Self::Ingress),
            "egress_timestamp" => Some(Self::Egress),
            _ => None,
        }
    }

    /// The column that holds its offsets.
    pub(super) fn offset(self) -> &'static str {
        match self {
            Self::Ingress => "ingress_offset",
            Self::Egress => "egress_offset",
        }
    }
}

/// The columns of a segment of the observations.
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

/// The offset of an egress timestamp. No number is negative, here and below.
pub(super) fn offset_of_egress(anchor: i64, egress: i64) -> i64 {
    anchor - egress
}

/// The offset of an ingress timestamp.
pub(super) fn offset_of_ingress(anchor: i64, egress: Option<i64>, latency: Option<i64>, ingress: i64) -> i64 {
    expected(egress.unwrap_or(anchor), latency) - ingress
}

/// Anchors of the times of reports and their delays, in some rows or in all, as all of these.
pub(super) fn anchors(times: &ColumnData, delays: ColumnData, rows: Option<&[u32]>) -> ColumnData {
    subtracted(delays, rows, |row| times.integer(row))
}

/// Egress timestamps of anchors and offsets.
pub(super) fn egress(anchors: &ColumnData, offsets: ColumnData, rows: Option<&[u32]>) -> ColumnData {
    subtracted(offsets, rows, |row| anchors.integer(row))
}

/// Ingress timestamps of anchors, egress timestamps, latencies and offsets.
pub(super) fn ingress(
    anchors: &ColumnData,
    egress: &ColumnData,
    latencies: &ColumnData,
    offsets: ColumnData,
    rows: Option<&[u32]>,
) -> ColumnData {
    let base = |row| egress.integer(row).or_else(|| anchors.integer(row));
    subtracted(offsets, rows, |row| Some(expected(base(row)?, latencies.integer(row))))
}

/// What is left of something less each offset.
fn subtracted(offsets: ColumnData, rows: Option<&[u32]>, from: impl Fn(usize) -> Option<i64>) -> ColumnData {
    let ColumnData::Integers { mut values, valid } = offsets else { return offsets };
    let less = |row: usize, value: i64| match &valid {
        Some(valid) if !valid[row] => 0,
        _ => from(row).unwrap_or(0).saturating_sub(value),
    };
    match rows {
        None => values.iter_mut().enumerate().for_each(|(row, value)| *value = less(row, *value)),
        Some(rows) => {
            for row in rows.iter().map(|row| *row as usize) {
                if let Some(value) = values.get_mut(row) {
                    *value = less(row, *value);
                }
            }
        }
    }
    ColumnData::Integers { values, valid }
}

fn expected(egress: i64, latency: Option<i64>) -> i64 {
    egress.saturating_sub(latency.unwrap_or(0)).max(0)
}

/// The column of delays.
pub(super) const DELAY: &str = "report_delay";

#[cfg(test)]
mod tests;
