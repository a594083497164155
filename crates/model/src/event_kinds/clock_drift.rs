//! What only `clock-drift` has.

use serde::{Deserialize, Serialize};

use crate::LinkEnds;

/// The clocks at both ends of a link run at different speeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockDrift {
    /// The link.
    pub link: LinkEnds,
    /// Nanoseconds that the clock at its end gains in each second on the one where it begins.
    pub ns_per_second: i64,
}
