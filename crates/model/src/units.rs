//! The units of a node's metadata.
//!
//! INT 2.1 leaves the units of queue occupancy, utilization and time to each device model, and expects them
//! to be known from elsewhere. Values are converted only here; a value of unknown unit stays unchanged.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Nanos, NodeId};

/// The configured units of nodes. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Units {
    nodes: Arc<HashMap<NodeId, NodeUnits>>,
    has_ticks: bool,
}

/// The units of one node's metadata.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeUnits {
    /// Unit of queue occupancy; `None` if unknown.
    pub queue: Option<QueueUnit>,
    /// Size of a cell, bytes; `None` if unknown.
    pub cell_bytes: Option<u32>,
    /// The value of egress utilization that means a full link; `None` if unknown.
    pub utilization_full: Option<u32>,
    /// Unit of ingress and egress timestamps.
    pub timestamp: Tick,
    /// Unit of hop latency.
    pub latency: Tick,
}

/// The unit of a queue's occupancy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueUnit {
    /// Bytes.
    Bytes,
    /// Cells of the device's memory.
    Cells,
    /// Packets, of any length.
    Packets,
}

/// A unit of time, at least a nanosecond; written `ns`, `us`, `ms`, `s`, or a multiple such as `8ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(u32);

/// The text is not a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TickError;

/// The occupancy of a queue, with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// Value as reported by the node.
    pub value: u32,
    /// Unit of the value; `None` if unknown.
    pub unit: Option<QueueUnit>,
    /// The occupancy in bytes; `None` if unknown.
    pub bytes: Option<u64>,
}

impl Units {
    /// The units of these nodes.
    #[must_use]
    pub fn new(nodes: impl IntoIterator<Item = (NodeId, NodeUnits)>) -> Self {
        let nodes: HashMap<_, _> =
            nodes.into_iter().filter(|(_, units)| *units != NodeUnits::default()).collect();
        let has_ticks = nodes.values().any(NodeUnits::has_ticks);
        Self { nodes: Arc::new(nodes), has_ticks }
    }

    /// The units of a node; for one that is not configured, unknown units and times in nanoseconds.
    #[must_use]
    pub fn of(&self, node_id: NodeId) -> NodeUnits {
        if self.nodes.is_empty() {
            return NodeUnits::default();
        }
        self.nodes.get(&node_id).copied().unwrap_or_default()
    }

    /// The nodes whose units are configured, in any order.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, NodeUnits)> {
        self.nodes.iter().map(|(node, units)| (*node, *units))
    }

    /// Whether any node counts time in a unit other than nanoseconds.
    #[must_use]
    pub fn has_ticks(&self) -> bool {
        self.has_ticks
    }
}

impl QueueUnit {
    /// Its name, as users write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Cells => "cells",
            Self::Packets => "packets",
        }
    }
}

impl NodeUnits {
    /// An occupancy with its unit.
    #[must_use]
    pub fn occupancy(&self, value: u32) -> Occupancy {
        Occupancy { value, unit: self.queue, bytes: self.queue_bytes(value) }
    }

    /// An occupancy in bytes; `None` if unknown.
    #[must_use]
    pub fn queue_bytes(&self, occupancy: u32) -> Option<u64> {
        match self.queue? {
            QueueUnit::Bytes => Some(occupancy.into()),
            QueueUnit::Cells => Some(u64::from(occupancy) * u64::from(self.cell_bytes?)),
            QueueUnit::Packets => None,
        }
    }

    /// A utilization in thousandths of a full link; `None` if unknown.
    #[must_use]
    pub fn utilization_permille(&self, utilization: u32) -> Option<u64> {
        (u64::from(utilization) * 1_000).checked_div(self.utilization_full?.into())
    }

    /// A timestamp in nanoseconds.
    #[must_use]
    pub fn timestamp_ns(&self, timestamp: u64) -> u64 {
        timestamp.saturating_mul(self.timestamp.0.into())
    }

    /// A hop latency in nanoseconds, from its value in ticks; `is_of_timestamps` if it is the difference of
    /// two timestamps.
    #[must_use]
    pub fn latency(&self, steps: Nanos, is_of_timestamps: bool) -> Nanos {
        let tick = if is_of_timestamps { self.timestamp } else { self.latency };
        Nanos(steps.0.saturating_mul(tick.0.into()))
    }

    fn has_ticks(&self) -> bool {
        (self.timestamp, self.latency) != (Tick::NANOSECOND, Tick::NANOSECOND)
    }
}

impl Tick {
    /// A nanosecond.
    pub const NANOSECOND: Self = Self(1);

    /// This many of it, nanoseconds.
    #[must_use]
    pub fn to_nanos(self, count: u32) -> u64 {
        u64::from(self.0) * u64::from(count)
    }
}

impl Default for Tick {
    fn default() -> Self {
        Self::NANOSECOND
    }
}

impl FromStr for Tick {
    type Err = TickError;

    fn from_str(text: &str) -> Result<Self, TickError> {
        let at = text.find(|letter: char| !letter.is_ascii_digit()).ok_or(TickError)?;
        let (count, unit) = text.split_at(at);
        let count: u32 = if count.is_empty() { 1 } else { count.parse().map_err(|_| TickError)? };
        let (_, ns) = TIMES.iter().find(|(name, _)| *name == unit.trim_start()).ok_or(TickError)?;
        count.checked_mul(*ns).filter(|ns| *ns > 0).map(Self).ok_or(TickError)
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = TIMES.iter().rev().find(|(_, ns)| self.0.is_multiple_of(*ns));
        let (name, ns) = exact.copied().unwrap_or(("ns", 1));
        match self.0 / ns {
            1 => f.write_str(name),
            count => write!(f, "{count}{name}"),
        }
    }
}

impl fmt::Display for TickError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a unit of time is `ns`, `us`, `ms` or `s`, or so many of them up to 4 s, such as `8ns`")
    }
}

impl Error for TickError {}

impl Serialize for Tick {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Tick {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.bytes, self.unit) {
            (Some(bytes @ ..1024), _) => write!(f, "{bytes} B"),
            (Some(bytes), _) => write!(f, "{}.{} KiB", bytes / 1024, bytes % 1024 * 10 / 1024),
            (None, Some(QueueUnit::Cells)) => write!(f, "{} cells", self.value),
            (None, Some(QueueUnit::Packets)) => write!(f, "{} packets", self.value),
            (None, _) => self.value.fmt(f),
        }
    }
}

/// Shortest first.
const TIMES: [(&str, u32); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

#[cfg(test)]
mod tests {
    use super::{NodeUnits, QueueUnit, Tick, Units};
    use crate::{Nanos, NodeId};

    #[test]
    fn an_occupancy_has_bytes_only_where_its_unit_says_how_many() {
        let units = |queue, cell_bytes| NodeUnits { queue, cell_bytes, ..NodeUnits::default() };
        for (units, bytes, text) in [
            (units(None, None), None, "3000"),
            (units(None, Some(80)), None, "3000"),
            (units(Some(QueueUnit::Bytes), None), Some(3_000), "2.9 KiB"),
            (units(Some(QueueUnit::Cells), Some(80)), Some(240_000), "234.3 KiB"),
            (units(Some(QueueUnit::Cells), None), None, "3000 cells"),
            (units(Some(QueueUnit::Packets), Some(80)), None, "3000 packets"),
        ] {
            let occupancy = units.occupancy(3_000);
            assert_eq!((occupancy.bytes, occupancy.to_string().as_str()), (bytes, text), "{units:?}");
        }
        let large = units(Some(QueueUnit::Cells), Some(u32::MAX)).queue_bytes(u32::MAX);
        assert_eq!(large, Some(u64::from(u32::MAX) * u64::from(u32::MAX)));
    }

    #[test]
    fn a_utilization_has_a_share_only_where_its_full_value_is_known() {
        let units = |utilization_full| NodeUnits { utilization_full, ..NodeUnits::default() };
        assert_eq!(units(None).utilization_permille(5_000), None);
        assert_eq!(units(Some(10_000)).utilization_permille(5_000), Some(500));
        assert_eq!(units(Some(0)).utilization_permille(5_000), None);
        assert_eq!(units(Some(1)).utilization_permille(u32::MAX), Some(u64::from(u32::MAX) * 1_000));
    }

    #[test]
    fn ticks_read_back_as_they_are_written() {
        for (text, ns, written) in [
            ("ns", 1, "ns"),
            ("1ns", 1, "ns"),
            ("8ns", 8, "8ns"),
            ("us", 1_000, "us"),
            ("1000 us", 1_000_000, "ms"),
            ("4s", 4_000_000_000, "4s"),
        ] {
            let tick: Tick = text.parse().unwrap();
            assert_eq!((tick, tick.to_string().as_str()), (Tick(ns), written), "{text}");
        }
        for wrong in ["", "8", "0ns", "5s", "-1ns", "min", "ns8", "1.5us"] {
            assert!(wrong.parse::<Tick>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_converted_for_nodes_that_count_otherwise() {
        let micros = NodeUnits { timestamp: Tick(1_000), latency: Tick(8), ..NodeUnits::default() };
        let units = Units::new([(NodeId(1), micros), (NodeId(2), NodeUnits::default())]);
        assert!(units.has_ticks() && !Units::default().has_ticks());
        assert_eq!(units.of(NodeId(1)).timestamp_ns(5), 5_000);
        assert_eq!(units.of(NodeId(1)).latency(Nanos(5), true), Nanos(5_000));
        assert_eq!(units.of(NodeId(1)).latency(Nanos(5), false), Nanos(40));
        assert_eq!(units.of(NodeId(2)).timestamp_ns(5), 5);
        assert_eq!(units.of(NodeId(1)).timestamp_ns(u64::MAX), u64::MAX);
    }
}
