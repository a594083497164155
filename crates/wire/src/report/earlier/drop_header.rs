//! The drop header of version 0.5.

use zerocopy::byteorder::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::int::metadata::Interfaces;

/// The drop header of a Telemetry Report 0.5, 12 bytes.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------------------------------+
/// |                           Switch ID                           |
/// +-------------------------------+-------------------------------+
/// |         Ingress Port          |          Egress Port          |
/// +---------------+---------------+-------------------------------+
/// |   Queue ID    |  Drop Reason  |            Padding            |
/// +---------------+---------------+-------------------------------+
/// ```
// report-0.5/local-01
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct DropHeader {
    node_id: U32,
    ingress_port: U16,
    egress_port: U16,
    /// The queue, 8 bits.
    pub queue_id: u8,
    /// The drop reason; its meaning depends on the node's table.
    pub drop_reason: u8,
    padding: U16,
}

impl DropHeader {
    /// Creates a header; interfaces that are not available are written as all ones.
    #[must_use]
    pub fn new(node_id: u32, interfaces: Option<Interfaces>, queue_id: u8, drop_reason: u8) -> Self {
        let port = |port: fn(Interfaces) -> u16| U16::new(interfaces.map_or(u16::MAX, port));
        Self {
            node_id: U32::new(node_id),
            ingress_port: port(|ids| ids.ingress),
            egress_port: port(|ids| ids.egress),
            queue_id,
            drop_reason,
            padding: U16::ZERO,
        }
    }

    /// The reporting node.
    #[must_use]
    pub fn node_id(&self) -> u32 {
        self.node_id.get()
    }

    /// The interfaces; `None` where both are all ones.
    #[must_use]
    pub fn interfaces(&self) -> Option<Interfaces> {
        let (ingress, egress) = (self.ingress_port.get(), self.egress_port.get());
        (ingress & egress != u16::MAX).then_some(Interfaces { ingress, egress })
    }
}

#[cfg(test)]
mod tests;
