//! A conclusion about a path.

use inband_model::{Confidence, Nanos, Origin, ReportReference};

/// What is concluded about a path, apart from its hops.
#[derive(Debug, Clone, Copy)]
pub(super) struct Finding {
    /// When the report that shows it arrived.
    pub(super) received_at: Nanos,
    /// The report that shows it.
    pub(super) report: ReportReference,
    pub(super) origin: Origin,
    pub(super) confidence: Confidence,
    /// Whether it shows the whole path; only whole paths are compared.
    pub(super) is_whole: bool,
    /// Whether the path is the same route as before, with only a different set of reporting nodes.
    pub(super) is_same_way: bool,
    /// Hops the path should have; `None` when unknown.
    pub(super) hops_expected: Option<u8>,
    /// Remaining Hop Count before the first hop, where a stack shows it.
    pub(super) remaining_at_source: Option<u8>,
}
