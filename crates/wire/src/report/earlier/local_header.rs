//! The switch-local header of version 0.5.

use zerocopy::byteorder::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::int::metadata::{HopMetadata, Interfaces, NOT_AVAILABLE, Queue};

/// The switch-local header of a Telemetry Report 0.5, 16 bytes.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------------------------------+
/// |                           Switch ID                           |
/// +-------------------------------+-------------------------------+
/// |         Ingress Port          |          Egress Port          |
/// +---------------+---------------+-------------------------------+
/// |   Queue ID    |                Queue Occupancy                |
/// +---------------+-----------------------------------------------+
/// |                       Egress Timestamp                        |
/// +---------------------------------------------------------------+
/// ```
// report-0.5/local-02
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct LocalHeader {
    node_id: U32,
    ingress_port: U16,
    egress_port: U16,
    queue: U32,
    egress_timestamp: U32,
}

const OCCUPANCY: u32 = 0x00ff_ffff;

impl LocalHeader {
    /// Creates a header from `metadata`; missing values are written as all ones.
    #[must_use]
    pub fn new(node_id: u32, metadata: &HopMetadata) -> Self {
        let port = |port: fn(Interfaces) -> u16| U16::new(metadata.interfaces.map_or(u16::MAX, port));
        let queue = metadata.queue.map(|queue| u32::from(queue.id) << 24 | queue.occupancy.min(OCCUPANCY));
        Self {
            node_id: U32::new(node_id),
            ingress_port: port(|ids| ids.ingress),
            egress_port: port(|ids| ids.egress),
            queue: U32::new(queue.unwrap_or(NOT_AVAILABLE)),
            egress_timestamp: U32::new(metadata.egress_timestamp.map_or(NOT_AVAILABLE, low_32_bits)),
        }
    }

    /// The reporting node.
    #[must_use]
    pub fn node_id(&self) -> u32 {
        self.node_id.get()
    }

    /// Interfaces, queue and egress timestamp; `None` where they are all ones.
    #[must_use]
    pub fn metadata(&self) -> HopMetadata {
        let (ingress, egress) = (self.ingress_port.get(), self.egress_port.get());
        let available = |word: U32| Some(word.get()).filter(|word| *word != NOT_AVAILABLE);
        HopMetadata {
            interfaces: (ingress & egress != u16::MAX).then_some(Interfaces { ingress, egress }),
            queue: available(self.queue)
                .map(|word| Queue { id: (word >> 24) as u8, occupancy: word & OCCUPANCY }),
            egress_timestamp: available_time(self.egress_timestamp.get()),
            ..HopMetadata::default()
        }
    }
}

/// The low 32 bits of a time; a time equal to "not available" is written one nanosecond earlier.
// report-0.5/header-06
pub(super) fn low_32_bits(timestamp: u64) -> u32 {
    u32::try_from(timestamp & u64::from(u32::MAX)).unwrap_or(NOT_AVAILABLE).min(NOT_AVAILABLE - 1)
}

/// A timestamp of 32 bits; `None` where it is all ones.
pub(super) fn available_time(word: u32) -> Option<u64> {
    (word != NOT_AVAILABLE).then(|| word.into())
}

#[cfg(test)]
mod tests;
