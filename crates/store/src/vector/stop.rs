//! Why the columns give no answer.

/// Why a question is not answered here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// SQLite has to answer it: a sum is too large, or memory does not do.
    GiveUp,
    /// It took too long.
    Late,
}
