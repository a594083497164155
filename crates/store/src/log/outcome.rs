//! The outcome of reading a log.

use std::ops::Range;

/// The state of a log's bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Bytes up to the end of the last whole frame.
    pub(crate) whole: usize,
    /// Damaged parts, in order.
    pub(crate) damaged: Vec<Range<usize>>,
    /// Bytes of an incomplete frame at the end.
    pub(crate) torn: usize,
}

impl Outcome {
    /// The same outcome, offset by the bytes before.
    pub(crate) fn behind(self, others: usize) -> Self {
        let damaged = self.damaged.into_iter().map(|part| part.start + others..part.end + others).collect();
        Self { whole: self.whole + others, damaged, torn: self.torn }
    }
}
