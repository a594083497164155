//! Places in the tables of ports and queues.

/// Where a port stands in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PortIndex(pub(super) usize);

impl PortIndex {
    /// Where it stands, counted from 0.
    #[inline]
    pub(crate) fn place(self) -> usize {
        self.0
    }
}

/// Where a queue stands in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct QueueIndex(pub(super) usize);

impl QueueIndex {
    /// Where it stands, counted from 0.
    #[inline]
    pub(crate) fn place(self) -> usize {
        self.0
    }
}
