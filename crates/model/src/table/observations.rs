//! The columns of one hop of a report.

use crate::HopRecord;
use crate::table::{Cells, Column, Table};

/// A row for each hop of each report.
pub const OBSERVATIONS: Table<HopRecord> = Table {
    name: "observations",
    about: "what one report says of one hop of a packet",
    columns: &[
        column("time", "when the report arrived", Cells::Time(|row| row.received_at)),
        column("flow_id", "hash of the five-tuple", Cells::OptionalInteger(|row| Some(row.flow?.id().0))),
        column(
            "source",
            "source address of the packet",
            Cells::OptionalAddress(|row| Some(row.flow?.source)),
        ),
        column(
            "destination",
            "its destination address",
            Cells::OptionalAddress(|row| Some(row.flow?.destination)),
        ),
        column(
            "protocol",
            "its IP protocol number",
            Cells::OptionalInteger(|row| Some(row.flow?.protocol.into())),
        ),
        column(
            "source_port",
            "its source port",
            Cells::OptionalInteger(|row| Some(row.flow?.source_port.into())),
        ),
        column(
            "destination_port",
            "its destination port",
            Cells::OptionalInteger(|row| Some(row.flow?.destination_port.into())),
        ),
        column(
            "hop_index",
            "index of the hop in the packet, 0 is the first",
            Cells::Integer(|row| row.hop_index.into()),
        ),
        column("hop_count", "number of hops in the report", Cells::Integer(|row| row.hop_count.into())),
        column("node_id", "the node of this hop", Cells::Integer(|row| row.node_id.0.into())),
        column(
            "ingress_interface",
            "level 1",
            Cells::OptionalInteger(|row| row.ingress_interface.map(u64::from)),
        ),
        column(
            "egress_interface",
            "level 1",
            Cells::OptionalInteger(|row| row.egress_interface.map(u64::from)),
        ),
        column(
            "ingress_interface_level2",
            "level 2",
            Cells::OptionalInteger(|row| row.ingress_interface_level2.map(u64::from)),
        ),
        column(
            "egress_interface_level2",
            "level 2",
            Cells::OptionalInteger(|row| row.egress_interface_level2.map(u64::from)),
        ),
        column("hop_latency", "nanoseconds", Cells::OptionalInteger(|row| Some(row.latency?.0))),
        column(
            "queue_id",
            "queue of the egress interface",
            Cells::OptionalInteger(|row| row.queue_id.map(u64::from)),
        ),
        column(
            "queue_occupancy",
            "in the node's unit",
            Cells::OptionalInteger(|row| row.queue_occupancy.map(u64::from)),
        ),
        column(
            "ingress_timestamp",
            "by the node's clock",
            Cells::OptionalInteger(|row| row.ingress_timestamp),
        ),
        column("egress_timestamp", "by the node's clock", Cells::OptionalInteger(|row| row.egress_timestamp)),
        column(
            "egress_utilization",
            "in the node's unit",
            Cells::OptionalInteger(|row| row.egress_utilization.map(u64::from)),
        ),
        column("buffer_id", "buffer of the node", Cells::OptionalInteger(|row| row.buffer_id.map(u64::from))),
        column(
            "buffer_occupancy",
            "in the node's unit",
            Cells::OptionalInteger(|row| row.buffer_occupancy.map(u64::from)),
        ),
        column("origin", "md-stack, mx-report or xd-report", Cells::Word(|row| row.origin.name())),
        column("dropped", "D: the packet was dropped", Cells::Flag(|row| row.dropped)),
        column(
            "congested_queue",
            "Q: the packet met a congested queue",
            Cells::Flag(|row| row.congested_queue),
        ),
        column("tracked_flow", "F: the flow is tracked", Cells::Flag(|row| row.tracked_flow)),
        column("intermediate", "I: a transit hop removed the stack", Cells::Flag(|row| row.intermediate)),
        column(
            "drop_reason",
            "drop reason code of the reporting node",
            Cells::OptionalInteger(|row| row.drop_reason.map(u64::from)),
        ),
        column("report_version", "0.5, 1.0, 2.0 or host-int", Cells::Word(|row| row.version.name())),
        column("reporter", "the reporting node", Cells::Integer(|row| row.reporter.0.into())),
        column("hw_id", "the part of it that numbers reports", Cells::Integer(|row| row.hw_id.into())),
        column("sequence", "sequence number of the datagram", Cells::Integer(|row| row.sequence.into())),
        column(
            "report_index",
            "index of the report in the datagram",
            Cells::Integer(|row| row.report_index.into()),
        ),
    ],
};

const fn column(name: &'static str, about: &'static str, cells: Cells<HopRecord>) -> Column<HopRecord> {
    Column { name, about, cells }
}
