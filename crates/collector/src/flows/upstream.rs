//! The first parts of a flow's path, where transit hops remove the stack from packets and report it.

use inband_model::{Nanos, NodeId, Origin, ReportReference};

use crate::paths::{Mark, PathIndex};

/// The reports that show the first part of a flow's path, and the stack of a sink that lacks it.
#[derive(Debug, Default)]
pub(crate) struct Upstream {
    /// The parts, first part first; at most [`MAX_PARTS`].
    pub(crate) parts: Vec<Part>,
    pub(crate) held: Option<HeldStack>,
    /// When the held stack is next checked.
    pub(crate) reminder_at: Option<Nanos>,
}

/// A part of a path in an intermediate report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) path: PathIndex,
    /// The node that removed these hops from the packet.
    pub(crate) reporter: NodeId,
    pub(crate) seen_at: Nanos,
    /// The position of the report in the order of packets.
    pub(crate) latest: Mark,
    pub(crate) span: Span,
}

/// Remaining Hop Count of a packet at the two ends of a stack, which shows what is missing before it: a node
/// that removes the stack leaves the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// Before its first hop was added; `None` where unknown.
    pub(crate) start: Option<u8>,
    /// After its last hop was added.
    pub(crate) end: Option<u8>,
}

/// A stack that lacks the hops before it, which waits for the report on them.
#[derive(Debug)]
pub(crate) struct HeldStack {
    pub(crate) path: PathIndex,
    pub(crate) latencies: Box<[Option<Nanos>]>,
    pub(crate) report: ReportReference,
    pub(crate) origin: Origin,
    /// Whether a clock confirms that its packet was later than those before.
    pub(crate) is_newer: bool,
    pub(crate) span: Span,
    /// Until when it waits.
    pub(crate) due: Nanos,
}

impl Upstream {
    /// The latest report of a node.
    pub(crate) fn of(&self, reporter: NodeId) -> Option<&Part> {
        self.parts.iter().find(|part| part.reporter == reporter)
    }

    /// Adds a part in its place; there must be room.
    pub(crate) fn insert(&mut self, part: Part) {
        let place = self.parts.partition_point(|known| known.span.start > part.span.start);
        self.parts.insert(place, part);
    }

    /// The paths kept for it in the path table.
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathIndex> {
        let held = self.held.as_ref().map(|held| held.path);
        self.parts.iter().map(|part| part.path).chain(held)
    }
}

impl Span {
    /// The span of a stack of `hops` that began with this Remaining Hop Count.
    pub(crate) fn new(start: Option<u8>, hops: usize) -> Self {
        let hops = u8::try_from(hops).unwrap_or(u8::MAX);
        Self { start, end: start.map(|start| start.saturating_sub(hops)) }
    }

    /// Whether packets passed hops between two stacks, as far as is known.
    pub(crate) fn has_gap_before(self, next: Self) -> bool {
        self.end.zip(next.start).is_some_and(|(end, start)| start < end)
    }

    /// Whether hops of one stack are certainly not before those of the next.
    pub(crate) fn reaches_into(self, next: Self) -> bool {
        self.end.zip(next.start).is_some_and(|(end, start)| end < start)
    }

    /// Whether the hops of one stack certainly come before those of another.
    pub(crate) fn is_before(self, next: Self) -> bool {
        self.end.zip(next.start).is_some_and(|(end, start)| end >= start)
    }
}

/// Maximum number of parts: of more, those reported longest ago are forgotten.
pub(crate) const MAX_PARTS: usize = 4;
