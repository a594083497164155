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

/// The id of a queue of one interface, if the node reports it.
///
/// One number, because it is compared for every hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueueKey(u16);

impl QueueKey {
    /// The node does not report it.
    pub(super) const UNKNOWN: Self = Self(0x100);

    #[inline]
    pub(super) fn of(id: Option<u8>) -> Self {
        id.map_or(Self::UNKNOWN, |id| Self(id.into()))
    }
}
