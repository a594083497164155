//! Which clock do timestamps have, and how far is it from the kernel's?

use rustix::time::{ClockId, DynamicClockId, Timespec, clock_gettime, clock_gettime_dynamic};
use serde::Deserialize;

use crate::sys::precision;

/// The clock of timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// Nanoseconds since 1970, UTC.
    #[default]
    Realtime,
    /// International Atomic Time, which leap seconds do not disturb.
    Tai,
    /// Nanoseconds since the host was started: latencies within the host only.
    Monotonic,
}

/// How often the clocks are compared for one answer: the shortest comparison is the most exact one.
const COMPARISONS: usize = 8;

impl Clock {
    /// How far this clock may be off what it names, nanoseconds; `None`: nobody keeps it right, or it names nothing.
    pub(crate) fn uncertainty(self) -> Option<u64> {
        match self {
            Self::Realtime | Self::Tai => precision::clock_uncertainty(),
            Self::Monotonic => None,
        }
    }

    /// What is added to the monotonic clock to get this one, nanoseconds.
    pub(crate) fn offset(self) -> u64 {
        let read = match self {
            Self::Realtime => realtime,
            Self::Tai => tai,
            Self::Monotonic => return 0,
        };
        let compare = |_| {
            let (before, then, after) = (monotonic(), read(), monotonic());
            let took = after.wrapping_sub(before);
            (took, then.wrapping_sub(before.wrapping_add(took / 2)))
        };
        (0..COMPARISONS).map(compare).min_by_key(|(took, _)| *took).map_or(0, |(_, offset)| offset)
    }
}

/// The clock of the kernel's programs, nanoseconds.
pub(crate) fn monotonic() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

fn realtime() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime))
}

/// International Atomic Time; as `realtime` where nobody has told the kernel of leap seconds, or it has no such clock.
fn tai() -> u64 {
    clock_gettime_dynamic(DynamicClockId::Tai).map_or_else(|_| realtime(), nanoseconds)
}

fn nanoseconds(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    seconds.wrapping_mul(1_000_000_000).wrapping_add(u64::try_from(time.tv_nsec).unwrap_or_default())
}
