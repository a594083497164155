//! The subject of a report: a packet, and the reason it is reported.

use inband_wire::layers::{IpVersion, Link};
use inband_wire::report::Drop;

use crate::domains::ValueContext;
use crate::encapsulation::IntSpan;
use crate::latency::Latency;
use crate::passage::Hop;

/// A packet to report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported<'a> {
    pub(crate) link: Link,
    pub(crate) ip: IpVersion,
    pub(crate) packet: &'a [u8],
    /// The packet's INT bytes, which are always reported.
    pub(crate) int: IntSpan,
    pub(crate) hop: &'a Hop<'a>,
    pub(crate) values: &'a ValueContext,
    pub(crate) inserted: Inserted<'a>,
    pub(crate) tracking: Tracking,
    /// Its Host-INT latency report; `None` if it is not Host-INT, or its sink reports none of its own.
    pub(crate) latency: Option<&'a Latency>,
}

/// The reason a packet is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tracking {
    /// Its flow is tracked.
    pub(crate) flow: bool,
    /// It met a congested queue.
    pub(crate) queue: bool,
    /// It was dropped.
    pub(crate) drop: Option<Drop>,
}

impl Tracking {
    /// A packet of a tracked flow.
    pub(crate) const FLOW: Self = Self { flow: true, queue: false, drop: None };
}

/// The source-inserted metadata of a packet, as needed for its report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inserted<'a> {
    /// Its bytes in the INT-MX header; empty for other packets.
    pub(crate) metadata: &'a [u8],
    /// Offset in the packet at which the header ends.
    pub(crate) end: usize,
    /// Whether this node is the packet's sink.
    pub(crate) is_sink: bool,
}
