//! Places in the tables of ports and queues.

/// Where a port stands in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PortIndex(pub(super) usize);

/// Where a queue stands in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueueIndex(pub(super) usize);
