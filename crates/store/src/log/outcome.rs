//! What reading a log has shown.

use std::ops::Range;

/// What became of the bytes of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Bytes up to the end of the last whole frame.
    pub(crate) whole: usize,
    /// Parts that are damaged, in order.
    pub(crate) damaged: Vec<Range<usize>>,
    /// Bytes at the end that are no whole frame.
    pub(crate) torn: usize,
}
