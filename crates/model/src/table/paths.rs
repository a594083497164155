//! The columns of the path of a flow.

use crate::PathObservation;
use crate::table::{Cells, Column, Table};

/// A row each time the path of a flow becomes known or changes.
pub const PATHS: Table<PathObservation> = Table {
    name: "paths",
    about: "the path of a flow, when it is first known and when it changes",
    columns: &[
        column("time", "when the last report it is based on arrived", Cells::Time(|row| row.received_at)),
        column("flow_id", "hash of the five-tuple", Cells::Integer(|row| row.flow.id().0)),
        column("source", "source address of the flow", Cells::OptionalAddress(|row| Some(row.flow.source))),
        column(
            "destination",
            "its destination address",
            Cells::OptionalAddress(|row| Some(row.flow.destination)),
        ),
        column("protocol", "its IP protocol number", Cells::Integer(|row| row.flow.protocol.into())),
        column("source_port", "its source port", Cells::Integer(|row| row.flow.source_port.into())),
        column(
            "destination_port",
            "its destination port",
            Cells::Integer(|row| row.flow.destination_port.into()),
        ),
        column(
            "path_id",
            "64-bit hash of the hops, in hexadecimal",
            Cells::Text(|row| row.path.id().to_string()),
        ),
        column(
            "path",
            "ingress:node:egress of each hop, first hop first",
            Cells::Text(|row| row.path.to_string()),
        ),
        column("hop_count", "hops seen", Cells::Integer(|row| row.path.hops().len() as u64)),
        column(
            "hops_expected",
            "expected number of hops",
            Cells::OptionalInteger(|row| row.hops_expected.map(u64::from)),
        ),
        column("origin", "md-stack, mx-report or xd-report", Cells::Word(|row| row.origin.name())),
    ],
};

const fn column(
    name: &'static str,
    about: &'static str,
    cells: Cells<PathObservation>,
) -> Column<PathObservation> {
    Column { name, about, cells }
}
