//! Why column-wise execution stops.

/// Why a question is not answered here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// SQLite has to answer it: a sum overflows, or memory is insufficient.
    GiveUp,
    /// Its time is up.
    Late,
}
