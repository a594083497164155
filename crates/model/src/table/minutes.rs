//! The columns of one minute of a queue.

use crate::table::{Cells, Column, Table};
use crate::{Nanos, NodeId};

/// Sums of the reports of one minute for one queue of one interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinuteRow {
    /// Start of the minute.
    pub minute: Nanos,
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface.
    pub egress_interface: Option<u16>,
    /// The queue of the interface.
    pub queue_id: Option<u8>,
    /// Hops reported.
    pub count: u64,
    /// Hops reported with a latency.
    pub latency_count: u64,
    /// The highest latency.
    pub latency_max: Option<Nanos>,
    /// Median, 90th and 99th percentile of the latency, with the error of the sketch.
    pub latency_quantiles: Option<[Nanos; 3]>,
    /// The sketch the percentiles come from: `bucket:count` pairs separated by blanks.
    pub latency_sketch: String,
    /// The highest occupancy of the queue, in the node's unit.
    pub queue_occupancy_max: Option<u32>,
    /// Reports on packets dropped here.
    pub dropped: u64,
    /// The highest utilisation of the interface, in the node's unit.
    pub utilization_max: Option<u32>,
}

/// A row for each queue and minute with reports; several if the minute was written in parts.
pub const MINUTES: Table<MinuteRow> = Table {
    name: "minutes",
    about: "one minute of one queue, in one or more rows that add up",
    columns: &[
        column("time", "start of the minute", Cells::Time(|row| row.minute)),
        column("node_id", "the node", Cells::Integer(|row| row.node_id.0.into())),
        column(
            "egress_interface",
            "level 1",
            Cells::OptionalInteger(|row| row.egress_interface.map(u64::from)),
        ),
        column(
            "queue_id",
            "queue of the interface",
            Cells::OptionalInteger(|row| row.queue_id.map(u64::from)),
        ),
        column("count", "hops reported", Cells::Integer(|row| row.count)),
        column("latency_count", "hops with a latency", Cells::Integer(|row| row.latency_count)),
        column("latency_max", "nanoseconds", Cells::OptionalInteger(|row| Some(row.latency_max?.0))),
        column("latency_p50", "nanoseconds", Cells::OptionalInteger(|row| Some(row.latency_quantiles?[0].0))),
        column("latency_p90", "nanoseconds", Cells::OptionalInteger(|row| Some(row.latency_quantiles?[1].0))),
        column("latency_p99", "nanoseconds", Cells::OptionalInteger(|row| Some(row.latency_quantiles?[2].0))),
        column("latency_sketch", "bucket:count pairs", Cells::Text(|row| row.latency_sketch.clone())),
        column(
            "queue_occupancy_max",
            "in the node's unit",
            Cells::OptionalInteger(|row| row.queue_occupancy_max.map(u64::from)),
        ),
        // Segments of earlier versions do not have these.
        column("dropped", "reports on packets dropped here", Cells::OptionalInteger(|row| Some(row.dropped))),
        column(
            "utilization_max",
            "in the node's unit",
            Cells::OptionalInteger(|row| row.utilization_max.map(u64::from)),
        ),
    ],
};

/// The columns of `minutes` for an hour; `time` is its start.
pub const HOURS: Table<MinuteRow> = Table {
    name: "hours",
    about: "one hour of one queue, in one or more rows that add up",
    columns: MINUTES.columns,
};

/// The columns of `minutes` for a second that differs from its minute; `time` is its start.
pub const SECONDS: Table<MinuteRow> = Table {
    name: "seconds",
    about: "one second of one queue that differs from its minute, in one or more rows that add up",
    columns: MINUTES.columns,
};

const fn column(name: &'static str, about: &'static str, cells: Cells<MinuteRow>) -> Column<MinuteRow> {
    Column { name, about, cells }
}
