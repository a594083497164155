//! The API's most frequent questions, answered without SQL.
//!
//! Reads only the columns of the question, and only the row groups of segments that may contain matching
//! rows.

use std::collections::{BTreeMap, HashMap};
use std::thread;

use inband_model::table::{OBSERVATIONS, PATHS, Shape};
use inband_model::{Flow, Nanos, NodeId};

use crate::error::StoreError;
use crate::history::{Chunk, ColumnData, History, Value};
use crate::quantile::quantile;
use crate::range::TimeRange;

/// The latency of a node, as reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeLatency {
    /// The node.
    pub node_id: NodeId,
    /// Hops that have a latency.
    pub count: u64,
    /// The requested quantile, exact.
    pub latency: Nanos,
}

/// A stored hop of a flow's packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowHop {
    /// When the report arrived.
    pub time: Nanos,
    /// Position of the hop in the packet's path; 0 is the first.
    pub hop_index: u8,
    /// The node.
    pub node_id: NodeId,
    /// Its level 1 ingress interface.
    pub ingress_interface: Option<u16>,
    /// Its level 1 egress interface.
    pub egress_interface: Option<u16>,
    /// How long the packet stayed in the node.
    pub latency: Option<Nanos>,
}

/// The path of a flow from some time on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredPath {
    /// When it was first known.
    pub time: Nanos,
    /// The hops as text, in path order.
    pub path: String,
}

impl History {
    /// The hop latency of each node at quantile `share`, from 0 to 1; ordered by node.
    ///
    /// # Errors
    /// A segment cannot be read.
    pub fn hop_latency(&self, range: TimeRange, share: f64) -> Result<Vec<NodeLatency>, StoreError> {
        let shape = OBSERVATIONS.shape();
        let columns = [place(&shape, "time"), place(&shape, "node_id"), place(&shape, "hop_latency")];
        let chunks = self.chunks(&shape, range)?;
        let workers = thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS);
        let share_of = chunks.len().div_ceil(workers).max(1);
        let parts: Vec<Latencies> = thread::scope(|scope| {
            let spawn = |chunks| scope.spawn(move || latencies(self, chunks, columns, range));
            let handles: Vec<_> = chunks.chunks(share_of).map(spawn).collect();
            handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
        });
        self.check_shortage()?;
        let mut all = Latencies::new();
        for part in parts {
            for (node, values) in part {
                all.entry(node).or_default().extend(values);
            }
        }
        let summary = |(node, mut values): (i64, Vec<i64>)| {
            let latency = quantile(&mut values, share)?;
            let node_id = NodeId(u32::try_from(node).ok()?);
            Some(NodeLatency { node_id, count: values.len() as u64, latency: Nanos(latency.cast_unsigned()) })
        };
        Ok(all.into_iter().filter_map(summary).collect())
    }

    /// The hops of a flow's packets, oldest first, at most `most`.
    ///
    /// # Errors
    /// A segment cannot be read.
    pub fn flow_hops(&self, flow: &Flow, range: TimeRange, most: usize) -> Result<Vec<FlowHop>, StoreError> {
        let shape = OBSERVATIONS.shape();
        let names = ["time", "hop_index", "node_id", "ingress_interface", "egress_interface", "hop_latency"];
        let columns = names.map(|name| place(&shape, name));
        let mut hops = Vec::new();
        self.each_row_of(flow, &shape, range, &columns, |data, row| {
            let number = |column: usize| data[column].integer(row).map(i64::cast_unsigned);
            let narrow = |column: usize| number(column).and_then(|number| u16::try_from(number).ok());
            hops.push(FlowHop {
                time: Nanos(number(0).unwrap_or(0)),
                hop_index: number(1).and_then(|index| u8::try_from(index).ok()).unwrap_or(u8::MAX),
                node_id: number(2)
                    .and_then(|node| u32::try_from(node).ok())
                    .map_or(NodeId::NOT_AVAILABLE, NodeId),
                ingress_interface: narrow(3),
                egress_interface: narrow(4),
                latency: number(5).map(Nanos),
            });
        })?;
        hops.sort_unstable();
        hops.truncate(most);
        Ok(hops)
    }

    /// The paths of a flow, oldest first.
    ///
    /// # Errors
    /// A segment cannot be read.
    pub fn flow_paths(&self, flow: &Flow, range: TimeRange) -> Result<Vec<StoredPath>, StoreError> {
        let shape = PATHS.shape();
        let columns = ["time", "path"].map(|name| place(&shape, name));
        let mut paths = Vec::new();
        self.each_row_of(flow, &shape, range, &columns, |data, row| {
            if let (Value::Integer(time), Value::Text(path)) = (data[0].value(row), data[1].value(row)) {
                paths.push(StoredPath { time: Nanos(time.cast_unsigned()), path: path.to_string() });
            }
        })?;
        paths.sort_unstable();
        Ok(paths)
    }

    /// Passes each row of a flow to `take`, with the requested columns.
    fn each_row_of(
        &self,
        flow: &Flow,
        shape: &Shape,
        range: TimeRange,
        columns: &[usize],
        mut take: impl FnMut(&[ColumnData], usize),
    ) -> Result<(), StoreError> {
        let id = flow.id().0.cast_signed();
        let id_column = place(shape, "flow_id");
        let tuple = ["source", "destination", "protocol", "source_port", "destination_port"]
            .map(|name| place(shape, name));
        for chunk in self.chunks(shape, range)?.iter().filter(|chunk| chunk.may_hold(id_column, id, id)) {
            let Some(ids) = self.column(chunk, id_column) else { continue };
            let is_wanted = |row: &usize| ids.integer(*row) == Some(id);
            // In a segment they are adjacent.
            let first = (0..chunk.rows()).find(is_wanted);
            let last = (0..chunk.rows()).rev().find(is_wanted);
            let Some((first, last)) = first.zip(last) else { continue };
            let part = first..last + 1;
            let read = |columns: &[usize]| {
                let columns = columns.iter().map(|column| self.part_of_column(chunk, *column, part.clone()));
                columns.collect::<Option<Vec<_>>>()
            };
            let (Some(times), Some(tuple), Some(data)) = (read(&[0]), read(&tuple), read(columns)) else {
                continue;
            };
            let times = &times[0];
            // Two flows may have the same id.
            let rows = (0..part.len()).filter(|row| {
                is_wanted(&(first + row)) && in_range(times, *row, range) && is_flow(&tuple, *row, flow)
            });
            rows.for_each(|row| take(&data, row));
        }
        self.check_shortage()
    }
}

/// Latencies by node.
type Latencies = BTreeMap<i64, Vec<i64>>;

fn latencies(history: &History, chunks: &[Chunk], columns: [usize; 3], range: TimeRange) -> Latencies {
    let [times, nodes, latencies] = columns;
    let mut slots = Slots::default();
    for chunk in chunks {
        let columns = history.column(chunk, nodes).zip(history.column(chunk, latencies));
        let Some((nodes, latencies)) = columns else { continue };
        let times = match range == TimeRange::ALL || chunk.is_within(range) {
            true => None,
            false => match history.column(chunk, times) {
                None => continue,
                times => times,
            },
        };
        for row in 0..chunk.rows() {
            if times.as_ref().is_some_and(|times| !in_range(times, row, range)) {
                continue;
            }
            if let (Some(node), Some(latency)) = (nodes.integer(row), latencies.integer(row)) {
                slots.of(node).push(latency);
            }
        }
    }
    slots.nodes.into_iter().zip(slots.values).collect()
}

/// Values by node. Adjacent rows are mostly of different nodes, so that the lookup must be fast.
#[derive(Default)]
struct Slots {
    nodes: Vec<i64>,
    values: Vec<Vec<i64>>,
    /// One plus the slot of each small node id.
    small: Vec<u32>,
    large: HashMap<i64, usize>,
}

impl Slots {
    fn of(&mut self, node: i64) -> &mut Vec<i64> {
        let small = usize::try_from(node).ok().filter(|node| *node < SMALL_NODES);
        let known = match small {
            Some(node) => self.small.get(node).and_then(|slot| slot.checked_sub(1)).map(|slot| slot as usize),
            None => self.large.get(&node).copied(),
        };
        let slot = known.unwrap_or_else(|| self.add(node, small));
        &mut self.values[slot]
    }

    fn add(&mut self, node: i64, small: Option<usize>) -> usize {
        let slot = self.values.len();
        self.nodes.push(node);
        self.values.push(Vec::new());
        match small {
            Some(node) => {
                self.small.resize(self.small.len().max(node + 1), 0);
                self.small[node] = u32::try_from(slot + 1).unwrap_or(u32::MAX);
            }
            None => {
                self.large.insert(node, slot);
            }
        }
        slot
    }
}

fn in_range(times: &ColumnData, row: usize, range: TimeRange) -> bool {
    times.integer(row).is_some_and(|time| (range.from.0..=range.to.0).contains(&time.cast_unsigned()))
}

fn is_flow(tuple: &[ColumnData], row: usize, flow: &Flow) -> bool {
    let text = |column: usize| match tuple[column].value(row) {
        Value::Text(text) => text.parse().ok(),
        _ => None,
    };
    let numbers = [flow.protocol.into(), flow.source_port.into(), flow.destination_port.into()];
    text(0) == Some(flow.source)
        && text(1) == Some(flow.destination)
        && (2..5)
            .zip(numbers)
            .all(|(column, number): (usize, i64)| tuple[column].integer(row) == Some(number))
}

/// Position of a column in a table; the first one for an unknown name.
fn place(shape: &Shape, name: &str) -> usize {
    let place = shape.column(name);
    debug_assert!(place.is_some(), "{} has no {name}", shape.name);
    place.unwrap_or(0)
}

/// Node ids below this are found in a table.
const SMALL_NODES: usize = 65_536;
/// Maximum threads that read at once.
const MAX_WORKERS: usize = 4;

#[cfg(test)]
mod tests;
