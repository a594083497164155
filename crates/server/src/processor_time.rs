//! Processor time of the calling thread.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Processor time of the calling thread since its start.
pub(crate) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The time since the thread's start is not negative.
    time.try_into().unwrap_or_default()
}
