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

impl Outcome {
    /// The same of bytes that stand behind others.
    pub(crate) fn behind(self, others: usize) -> Self {
        let damaged = self.damaged.into_iter().map(|part| part.start + others..part.end + others).collect();
        Self { whole: self.whole + others, damaged, torn: self.torn }
    }
}
