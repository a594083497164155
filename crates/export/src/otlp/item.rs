//! The items of the trace queue.

use inband_model::{HopColumns, PathObservation};

use crate::queue::Messages;

/// A path, or hops with details for paths.
#[derive(Debug)]
pub(crate) enum Item {
    /// A path that becomes a trace.
    Path(Box<PathObservation>),
    /// The latest hops, from which traces take their details.
    Hops(Box<HopColumns>),
}

impl Messages for Item {
    fn messages(&self) -> u64 {
        match self {
            Item::Path(_) => 1,
            Item::Hops(_) => 0,
        }
    }

    fn room(&self) -> u64 {
        match self {
            Item::Path(_) => 1,
            // Hops take memory, and a trace without details is better than none.
            Item::Hops(hops) => (hops.len() as u64).div_ceil(8),
        }
    }
}
