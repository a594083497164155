//! Columns of a burst: an episode of congestion of one queue.

use crate::table::{Cells, Column, Table};
use crate::{Nanos, NodeId};

/// What packets found in a queue during a congestion episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BurstRow {
    /// When the first report of the episode arrived here.
    pub first: Nanos,
    /// When its last report arrived here.
    pub last: Nanos,
    /// The node.
    pub node_id: NodeId,
    /// Its egress interface.
    pub egress_interface: Option<u16>,
    /// The queue of the interface.
    pub queue_id: Option<u8>,
    /// The kind of the event that announced it.
    pub kind: &'static str,
    /// Reports on packets that left the queue in the episode.
    pub reports: u64,
    /// The highest latency.
    pub latency_max: Option<Nanos>,
    /// The highest occupancy, in the node's unit.
    pub queue_occupancy_max: Option<u32>,
    /// Whether offsets are of the node's clock.
    pub is_node_clock: bool,
    /// Reference time of the offsets: by the node's clock, or else by arrival.
    pub base: u64,
    /// What packets found: `offset:occupancy:latency:flow` separated by blanks, at most 4,096, evenly sampled
    /// and including the deepest; a flow is an index in `flows`, and a dash is a value that no report
    /// contained.
    pub samples: String,
    /// The flows, most reports first, as JSON.
    pub flows: String,
}

/// A row for each episode, or for its part in one log.
pub const BURSTS: Table<BurstRow> = Table {
    name: "bursts",
    about: "a congestion episode of one queue, in one or more consecutive rows",
    columns: &[
        column("time", "when its first report arrived", Cells::Time(|row| row.first)),
        column("last", "when its last report arrived", Cells::Time(|row| row.last)),
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
        column("kind", "queue-congestion or microburst", Cells::Word(|row| row.kind)),
        column("reports", "reports on packets that left the queue", Cells::Integer(|row| row.reports)),
        column("latency_max", "nanoseconds", Cells::OptionalInteger(|row| Some(row.latency_max?.0))),
        column(
            "queue_occupancy_max",
            "in the node's unit",
            Cells::OptionalInteger(|row| row.queue_occupancy_max.map(u64::from)),
        ),
        column("node_clock", "whether offsets are of the node's clock", Cells::Flag(|row| row.is_node_clock)),
        column("base", "reference time of the offsets, nanoseconds", Cells::Integer(|row| row.base)),
        column("samples", "offset:occupancy:latency:flow", Cells::Text(|row| row.samples.clone())),
        column("flows", "the flows of the samples, JSON", Cells::Text(|row| row.flows.clone())),
    ],
};

const fn column(name: &'static str, about: &'static str, cells: Cells<BurstRow>) -> Column<BurstRow> {
    Column { name, about, cells }
}
