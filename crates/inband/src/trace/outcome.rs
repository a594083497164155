//! What became of one probe.

use inband_model::Flow;

use super::stack::Seen;

/// What became of one probe.
pub(super) struct Outcome {
    pub(super) number: u32,
    pub(super) flow: Flow,
    pub(super) seen: Seen,
}
