//! A conclusion about a path.

use inband_model::{Confidence, Nanos, Origin, ReportReference};

/// What is concluded about a path, apart from its hops.
#[derive(Debug, Clone, Copy)]
pub(super) struct Finding {
    /// When the report arrived that shows it.
    pub(super) received_at: Nanos,
    /// The report that shows it.
    pub(super) report: ReportReference,
    pub(super) origin: Origin,
    pub(super) confidence: Confidence,
    /// Whether it shows the whole path; only such paths are compared.
    pub(super) is_whole: bool,
    /// Whether the path leads where the one before did, and only other nodes of it are known.
    pub(super) is_same_way: bool,
    /// Hops the path should have; `None` when nothing tells.
    pub(super) hops_expected: Option<u8>,
}
