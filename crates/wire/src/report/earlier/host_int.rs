//! Host-INT's extensions of version 0.5 reports.

use zerocopy::byteorder::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Host-INT's summary of packets lost from a flow, 24 bytes; the flow's IPv4 and L4 header follow.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------------------------------+
/// |                        Source Node ID                         |
/// |                         Sink Node ID                          |
/// +-------------------------------+-------------------------------+
/// |     Source Ingress Port       |       Sink Egress Port        |
/// +-------------------------------+-------------------------------+
/// |                    Gap Timestamp (seconds)                    |
/// |                      Gap Sequence Number                      |
/// |                           Gap Count                           |
/// +---------------------------------------------------------------+
/// ```
// host-int-0.5/report-05
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct DropSummary {
    source_node_id: U32,
    sink_node_id: U32,
    ingress_port: U16,
    egress_port: U16,
    gap_timestamp: U32,
    gap_sequence: U32,
    gap_count: U32,
}

/// A gap in the sequence numbers of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gap {
    /// When the gap was first observed, seconds since 1970.
    pub seen_at_s: u32,
    /// The last in-order sequence number before the gap.
    pub sequence: u32,
    /// How many packets are missing.
    pub count: u32,
}

/// Whether a latency report has an extra word with the sink's node id, which the format does not announce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SinkNodeId {
    /// Detect it from the position of plausible packet headers.
    #[default]
    Auto,
    /// The word is present, as Host-INT has written it since 0.1.1.
    Present,
    /// The word is absent, as in older releases, and in newer ones on request.
    Absent,
}

impl DropSummary {
    /// Creates a summary of the packets lost between two nodes.
    #[must_use]
    pub fn new(
        source_node_id: u32,
        sink_node_id: u32,
        ingress_port: u16,
        egress_port: u16,
        gap: Gap,
    ) -> Self {
        Self {
            source_node_id: U32::new(source_node_id),
            sink_node_id: U32::new(sink_node_id),
            ingress_port: U16::new(ingress_port),
            egress_port: U16::new(egress_port),
            gap_timestamp: U32::new(gap.seen_at_s),
            gap_sequence: U32::new(gap.sequence),
            gap_count: U32::new(gap.count),
        }
    }

    /// The summary at the start of `bytes`; `None` when they are too short.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<&Self> {
        Self::ref_from_prefix(bytes).ok().map(|(summary, _)| summary)
    }

    /// The node that numbered the packets.
    #[must_use]
    pub fn source_node_id(&self) -> u32 {
        self.source_node_id.get()
    }

    /// The node that misses packets and reports it.
    #[must_use]
    pub fn sink_node_id(&self) -> u32 {
        self.sink_node_id.get()
    }

    /// Ingress port of the source.
    #[must_use]
    pub fn ingress_port(&self) -> u16 {
        self.ingress_port.get()
    }

    /// Egress port of the sink.
    #[must_use]
    pub fn egress_port(&self) -> u16 {
        self.egress_port.get()
    }

    /// The gap.
    #[must_use]
    pub fn gap(&self) -> Gap {
        Gap {
            seen_at_s: self.gap_timestamp.get(),
            sequence: self.gap_sequence.get(),
            count: self.gap_count.get(),
        }
    }
}

#[cfg(test)]
mod tests;
