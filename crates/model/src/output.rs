//! What a collector gives out.

use crate::event::Event;
use crate::observation::Observation;

/// What the collector gives out.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Something it concludes from reports.
    Observation(Observation),
    /// Something it announces.
    Event(Event),
}
