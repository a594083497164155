//! Reports of the versions before 2.0, independent of their layout.

use crate::dissect::{Dissection, dissect};
use crate::int::code_points::CodePoints;
use crate::int::instruction::Instructions;
use crate::int::metadata::HopMetadata;
use crate::layers::{Link, Strictness};
use crate::report::Deviation;
use crate::report::earlier::host_int::DropSummary;
use crate::report::earlier::host_int_packet::{flow, int};
use crate::report::individual::Drop;
use crate::report::version::ReportVersion;

/// The kind of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReportKind {
    /// A packet without metadata of the node; its INT may have some.
    Packet,
    /// The node's metadata for a packet.
    Local,
    /// A packet that the node dropped.
    Drop,
    /// Host-INT: the INT headers of a packet, with the sink's own hop.
    Latency,
    /// Host-INT: how many packets of a flow are missing.
    DropSummary,
}

/// A report of a version before 2.0; a datagram is one.
#[derive(Clone, Copy, Debug)]
pub struct EarlierReport<'a> {
    /// The version of the format.
    pub version: ReportVersion,
    /// What kind of report it is.
    pub kind: ReportKind,
    /// The reporting node; `None` when only the sender's address or the stack in the packet identifies it.
    pub node_id: Option<u32>,
    /// Which part of the node's hardware sent the report, 0 to 63.
    pub hw_id: u8,
    /// Number of the report, counted per node, hw_id and destination.
    pub sequence: u32,
    /// Host-INT: time of the report, seconds since 1970.
    pub reported_at_s: Option<u32>,
    /// D: a packet was dropped.
    pub dropped: bool,
    /// Q: the packet met a congested queue.
    pub congested_queue: bool,
    /// F: the packet belongs to a tracked flow.
    pub tracked_flow: bool,
    /// The metadata that the report has room for, as the equivalent instructions of INT 2.1.
    pub instructions: Instructions,
    /// The node's own metadata for the packet, without its id; timestamps are 32 bits wide.
    pub metadata: HopMetadata,
    /// Queue and drop reason, if the report has them.
    pub drop: Option<Drop>,
    /// Host-INT: the lost packets of a flow.
    pub drop_summary: Option<&'a DropSummary>,
    /// Deviation from the format; `None` in a strict reading.
    pub deviation: Option<Deviation>,
    /// The packet as far as it is present, with its link type. The headers in a drop summary have only
    /// addresses, protocol and ports set.
    pub packet: Option<(Link, &'a [u8])>,
    /// Offset of the packet in the datagram.
    pub packet_at: usize,
}

impl EarlierReport<'_> {
    /// The flow of the packet and its INT headers.
    #[must_use]
    pub fn dissect(&self, code_points: &CodePoints<'_>) -> Dissection {
        let Some((link, packet)) = self.packet else {
            return Dissection::default();
        };
        // Host-INT's lengths are those of the packet without the sink's hop, or zero.
        let found = match self.kind {
            ReportKind::Latency => int(packet, Strictness::Truncated)
                .map(|(layers, location)| (layers.five_tuple(packet), Some((layers, location)))),
            ReportKind::DropSummary => flow(packet).map(|flow| (flow, None)),
            ReportKind::Packet | ReportKind::Local | ReportKind::Drop => {
                return dissect(link, packet, code_points, Strictness::Truncated);
            }
        };
        match found {
            Ok((flow, int)) => Dissection::of_headers(flow, int),
            Err(error) => Dissection::failed(error),
        }
    }
}
