//! What was in front of a stack.

use crate::flows::MAX_PARTS;
use crate::paths::PathIndex;

/// What comes before the first hop of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    /// Nothing: the stack begins at the source.
    Source,
    /// These parts of a path, the first of which began with this Remaining Hop Count.
    Parts { paths: [Option<PathIndex>; MAX_PARTS], start: Option<u8> },
    /// Perhaps hops that no report has shown in time.
    Lost,
}
