//! The columns of hops and of roll-ups that statistics are computed from.

use inband_model::table::Shape;

use crate::history::ColumnData;

use super::question::InterfacesOf;

/// Positions of the columns.
pub(super) struct Columns {
    pub(super) time: usize,
    pub(super) node: usize,
    pub(super) interface: usize,
    pub(super) latency: usize,
    pub(super) depth: usize,
    pub(super) utilization: usize,
    pub(super) dropped: usize,
    /// In roll-ups: the number of hops, and the sketch of their latencies.
    pub(super) counts: Option<usize>,
    pub(super) sketch: Option<usize>,
    /// In hops: hop index and hop count.
    pub(super) hops: Option<[usize; 2]>,
}

impl Columns {
    pub(super) fn of(table: InterfacesOf, shape: &Shape) -> Self {
        // The tables of the model have all of them.
        let place = |name: &str| shape.column(name).unwrap_or(0);
        let is_hops = table == InterfacesOf::Hops;
        let of = |hops: &str, rolled_up: &str| place(if is_hops { hops } else { rolled_up });
        Self {
            time: place("time"),
            node: place("node_id"),
            interface: place("egress_interface"),
            latency: of("hop_latency", "latency_max"),
            depth: of("queue_occupancy", "queue_occupancy_max"),
            utilization: of("egress_utilization", "utilization_max"),
            dropped: place("dropped"),
            counts: (!is_hops).then(|| place("count")),
            sketch: (!is_hops).then(|| place("latency_sketch")),
            hops: is_hops.then(|| [place("hop_index"), place("hop_count")]),
        }
    }

    /// The columns of numbers that are read in any case.
    pub(super) fn all(&self) -> Vec<usize> {
        let Self { node, interface, latency, depth, utilization, dropped, counts, .. } = *self;
        [node, interface, latency, depth, utilization, dropped].into_iter().chain(counts).collect()
    }
}

/// Nonnegative numbers of a column.
pub(super) struct Numbers {
    pub(super) values: Vec<i64>,
    valid: Option<Vec<bool>>,
}

impl Numbers {
    pub(super) fn of(data: ColumnData) -> Option<Self> {
        match data {
            ColumnData::Integers { values, valid } => Some(Self { values, valid }),
            ColumnData::Flags(flags) => {
                Some(Self { values: flags.into_iter().map(i64::from).collect(), valid: None })
            }
            ColumnData::Texts { .. } => None,
        }
    }

    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<u64> {
        let is_there = self.valid.as_ref().is_none_or(|valid| valid[row]);
        if is_there { u64::try_from(self.values[row]).ok() } else { None }
    }
}
