//! The output of a collector.

use crate::event::Event;
use crate::observation::Observation;

/// One output of the collector.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// A conclusion from reports.
    Observation(Observation),
    /// An announcement.
    Event(Event),
}
