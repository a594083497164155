//! Columns of roll-ups: one minute of a flow, one minute of a link, one second of all reports.

use crate::table::{Cells, Column, Table};
use crate::{Flow, Nanos, NodeId};

/// Sums of the reports of one minute on one flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowMinuteRow {
    /// Start of the minute.
    pub minute: Nanos,
    /// The flow.
    pub flow: Flow,
    /// Reports on its packets.
    pub reports: u64,
    /// Reports with a hop latency.
    pub latency_count: u64,
    /// Sum of all hop latencies of these reports.
    pub latency_sum: u64,
    /// The highest sum of hop latencies of one report.
    pub latency_max: Option<Nanos>,
    /// The highest latency of one hop.
    pub hop_latency_max: Option<Nanos>,
    /// Reports on dropped packets.
    pub dropped: u64,
}

/// Sums of the reports of one minute on one link, in the direction packets take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkMinuteRow {
    /// Start of the minute.
    pub minute: Nanos,
    /// The node packets leave.
    pub from: NodeId,
    /// The interface they leave it by.
    pub egress_interface: Option<u16>,
    /// The node they reach.
    pub to: NodeId,
    /// The interface they enter it by.
    pub ingress_interface: Option<u16>,
    /// Reports that contain both ends.
    pub count: u64,
    /// Reports with a link latency of at least zero.
    pub latency_count: u64,
    /// Reports with a link latency below zero: the clocks at the ends disagree.
    pub negative_count: u64,
    /// The longest link latency.
    pub latency_max: Option<Nanos>,
    /// The sketch of the link latencies: `bucket:count` pairs separated by blanks.
    pub latency_sketch: String,
}

/// Sums of all reports of one second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotalRow {
    /// Start of the second.
    pub second: Nanos,
    /// Reports.
    pub reports: u64,
    /// Hops in the reports.
    pub hops: u64,
    /// The longest latency of a hop.
    pub latency_max: Option<Nanos>,
    /// The deepest queue, in the unit of its node.
    pub occupancy_max: Option<u32>,
    /// The sketch of the latencies of all hops: `bucket:count` pairs separated by blanks.
    pub latency_sketch: String,
    /// The sketch of all reported queue occupancies.
    pub occupancy_sketch: String,
    /// Reports on dropped packets.
    pub dropped: u64,
}

/// A row for each flow and minute with reports; several if the minute was written in parts.
pub const FLOW_MINUTES: Table<FlowMinuteRow> = Table {
    name: "flow_minutes",
    about: "one minute of one flow, in one or more rows that add up",
    columns: &[
        flow("time", "start of the minute", Cells::Time(|row| row.minute)),
        flow("flow_id", "hash of the five-tuple", Cells::Integer(|row| row.flow.id().0)),
        flow("source", "source address of the flow", Cells::OptionalAddress(|row| Some(row.flow.source))),
        flow(
            "destination",
            "its destination address",
            Cells::OptionalAddress(|row| Some(row.flow.destination)),
        ),
        flow("protocol", "its IP protocol number", Cells::Integer(|row| row.flow.protocol.into())),
        flow("source_port", "its source port", Cells::Integer(|row| row.flow.source_port.into())),
        flow(
            "destination_port",
            "its destination port",
            Cells::Integer(|row| row.flow.destination_port.into()),
        ),
        flow("reports", "reports on its packets", Cells::Integer(|row| row.reports)),
        flow("latency_count", "reports with a hop latency", Cells::Integer(|row| row.latency_count)),
        flow(
            "latency_sum",
            "nanoseconds: sum of all hop latencies of these reports",
            Cells::Integer(|row| row.latency_sum),
        ),
        flow(
            "latency_max",
            "nanoseconds: the highest sum of the hop latencies of a report",
            Cells::OptionalInteger(|row| Some(row.latency_max?.0)),
        ),
        flow(
            "hop_latency_max",
            "nanoseconds: the highest of one hop",
            Cells::OptionalInteger(|row| Some(row.hop_latency_max?.0)),
        ),
        flow("dropped", "reports on dropped packets", Cells::Integer(|row| row.dropped)),
    ],
};

/// A row for each link and minute with reports; several if the minute was written in parts.
pub const LINK_MINUTES: Table<LinkMinuteRow> = Table {
    name: "link_minutes",
    about: "one minute of one link, from reports that contain both ends, in one or more rows that add up",
    columns: &[
        link("time", "start of the minute", Cells::Time(|row| row.minute)),
        link("from_node", "the node packets leave", Cells::Integer(|row| row.from.0.into())),
        link(
            "egress_interface",
            "level 1",
            Cells::OptionalInteger(|row| row.egress_interface.map(u64::from)),
        ),
        link("to_node", "the node they reach", Cells::Integer(|row| row.to.0.into())),
        link(
            "ingress_interface",
            "level 1",
            Cells::OptionalInteger(|row| row.ingress_interface.map(u64::from)),
        ),
        link("count", "reports that contain both ends", Cells::Integer(|row| row.count)),
        link(
            "latency_count",
            "reports with a link latency of at least zero",
            Cells::Integer(|row| row.latency_count),
        ),
        link(
            "negative_count",
            "reports with a link latency below zero",
            Cells::Integer(|row| row.negative_count),
        ),
        link(
            "latency_max",
            "nanoseconds, by the clocks at both ends",
            Cells::OptionalInteger(|row| Some(row.latency_max?.0)),
        ),
        link("latency_sketch", "bucket:count pairs", Cells::Text(|row| row.latency_sketch.clone())),
    ],
};

/// A row for each second with reports; several if the second was written in parts.
pub const TOTALS: Table<TotalRow> = Table {
    name: "totals",
    about: "one second of all reports, in one or more rows that add up",
    columns: &[
        total("time", "start of the second", Cells::Time(|row| row.second)),
        total("reports", "reports that arrived", Cells::Integer(|row| row.reports)),
        total("hops", "hops in these reports", Cells::Integer(|row| row.hops)),
        total(
            "latency_max",
            "nanoseconds: the longest latency of a hop",
            Cells::OptionalInteger(|row| Some(row.latency_max?.0)),
        ),
        total(
            "queue_occupancy_max",
            "the deepest queue, in the unit of its node",
            Cells::OptionalInteger(|row| row.occupancy_max.map(u64::from)),
        ),
        total("dropped", "reports on dropped packets", Cells::Integer(|row| row.dropped)),
        total(
            "latency_sketch",
            "bucket:count pairs, of all hops",
            Cells::Text(|row| row.latency_sketch.clone()),
        ),
        total(
            "queue_occupancy_sketch",
            "bucket:count pairs, of all hops",
            Cells::Text(|row| row.occupancy_sketch.clone()),
        ),
    ],
};

const fn total(name: &'static str, about: &'static str, cells: Cells<TotalRow>) -> Column<TotalRow> {
    Column { name, about, cells }
}

const fn flow(name: &'static str, about: &'static str, cells: Cells<FlowMinuteRow>) -> Column<FlowMinuteRow> {
    Column { name, about, cells }
}

const fn link(name: &'static str, about: &'static str, cells: Cells<LinkMinuteRow>) -> Column<LinkMinuteRow> {
    Column { name, about, cells }
}
