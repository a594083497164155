//! Indices into the tables of ports and queues.

/// Index of a port in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PortIndex(pub(super) usize);

impl PortIndex {
    /// The index, counted from 0.
    #[inline]
    pub(crate) fn place(self) -> usize {
        self.0
    }
}

/// Index of a queue in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct QueueIndex(pub(super) usize);

impl QueueIndex {
    /// The index, counted from 0.
    #[inline]
    pub(crate) fn place(self) -> usize {
        self.0
    }
}
