//! The time of day.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time of day, nanoseconds since 1970.
pub(super) fn now_ns() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}
