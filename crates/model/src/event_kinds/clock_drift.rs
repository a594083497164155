//! The detail of a `clock-drift` event.

use serde::{Deserialize, Serialize};

use crate::{LinkEnds, NodeId};

/// The clocks at both ends of a link run at different speeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockDrift {
    /// The link.
    pub link: LinkEnds,
    /// Nanoseconds per second that the clock at the end of the link gains on the clock at its beginning.
    pub ns_per_second: i64,
}

impl ClockDrift {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        self.link.nodes()
    }
}
