//! The values of a hop with their meaning and unit.

use std::fmt::{self, Write};

use super::block::{Block, date};
use crate::hop::{Field, Values};

/// Prints one line per value.
pub(super) fn write<W: Write>(fields: &Values, depth: usize, block: &mut Block<'_, W>) -> fmt::Result {
    for (field, value) in fields {
        let label = label(*field);
        match value {
            Some(value) => block.line(depth, format_args!("{label}: {}", with_unit(*field, *value)))?,
            None => block.line(depth, format_args!("{label}: not available"))?,
        }
    }
    Ok(())
}

fn label(field: Field) -> String {
    match field {
        Field::NodeId => "Node ID",
        Field::IngressInterface => "Ingress interface, level 1",
        Field::EgressInterface => "Egress interface, level 1",
        Field::HopLatency => "Hop latency",
        Field::QueueId => "Queue ID",
        Field::QueueOccupancy => "Queue occupancy",
        Field::IngressTimestamp => "Ingress timestamp",
        Field::EgressTimestamp => "Egress timestamp",
        Field::IngressInterfaceLevel2 => "Ingress interface, level 2",
        Field::EgressInterfaceLevel2 => "Egress interface, level 2",
        Field::EgressUtilization => "Egress interface utilization",
        Field::BufferId => "Buffer ID",
        Field::BufferOccupancy => "Buffer occupancy",
        Field::ChecksumComplement => "Checksum complement",
        Field::CongestionQueueId => "Congested queue ID",
        Field::QueueCongestion => "Queue congestion",
        Field::Reserved(bit) => return format!("Reserved instruction bit {bit}"),
    }
    .to_owned()
}

fn with_unit(field: Field, value: u64) -> String {
    match field {
        Field::HopLatency => format!("{value} ns"),
        Field::QueueOccupancy
        | Field::QueueCongestion
        | Field::BufferOccupancy
        | Field::EgressUtilization => {
            format!("{value} (the node's unit)")
        }
        // A device's clock need not count from 1970; a value in a recent year does.
        Field::IngressTimestamp | Field::EgressTimestamp if value >= YEAR_2001_NS => {
            format!("{value} ns ({})", date(value))
        }
        Field::IngressTimestamp | Field::EgressTimestamp => format!("{value} ns"),
        Field::NodeId => id(value),
        Field::ChecksumComplement | Field::Reserved(_) => format!("{value:#010x}"),
        _ => value.to_string(),
    }
}

/// A node's id; many nodes are numbered by their IPv4 address or a pattern.
pub(super) fn id(value: u64) -> String {
    if value > 0xffff { format!("{value} ({value:#x})") } else { value.to_string() }
}

/// 10^18 ns since 1970: September 2001.
const YEAR_2001_NS: u64 = 1_000_000_000_000_000_000;
