//! The clocks of timestamps, and their offsets from the kernel's.

use rustix::time::{ClockId, DynamicClockId, Timespec, clock_gettime, clock_gettime_dynamic};
use serde::Deserialize;

use crate::precision;

/// The clock of timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// Nanoseconds since 1970, UTC.
    #[default]
    Realtime,
    /// International Atomic Time, which has no leap seconds.
    Tai,
    /// Nanoseconds since the host was booted: latencies within the host only.
    Monotonic,
}

/// The offset of a clock from the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// What is added to the monotonic clock, nanoseconds.
    pub ns: u64,
    /// The error of the offset, as the clocks are not read simultaneously, nanoseconds.
    pub error_ns: u64,
}

/// Minimum number of comparisons of the clocks, and maximum where all of them took long: the shortest is the
/// most exact.
const COMPARISONS: usize = 8;
const MAX_COMPARISONS: usize = 64;
/// A comparison that takes longer was interrupted, nanoseconds.
const UNDISTURBED_NS: u64 = 1_000;

impl Clock {
    /// The name in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Realtime => "realtime",
            Self::Tai => "tai",
            Self::Monotonic => "monotonic",
        }
    }

    /// How far this clock may be off what it names, nanoseconds; `None`: the clock is not disciplined, or
    /// names nothing.
    #[must_use]
    pub fn uncertainty(self) -> Option<u64> {
        match self {
            Self::Realtime | Self::Tai => precision::clock_uncertainty(),
            Self::Monotonic => None,
        }
    }

    /// The offset of this clock from the monotonic one.
    #[must_use]
    pub fn offset(self) -> Offset {
        let read = match self {
            Self::Realtime => realtime,
            Self::Tai => tai,
            Self::Monotonic => return Offset { ns: 0, error_ns: 0 },
        };
        let compare = || {
            let (before, then, after) = (monotonic(), read(), monotonic());
            let error_ns = after.wrapping_sub(before) / 2;
            Offset { ns: then.wrapping_sub(before.wrapping_add(error_ns)), error_ns }
        };
        let mut best = compare();
        for number in 1..MAX_COMPARISONS {
            if number >= COMPARISONS && best.error_ns <= UNDISTURBED_NS {
                break;
            }
            let other = compare();
            if other.error_ns < best.error_ns {
                best = other;
            }
        }
        best
    }
}

impl Offset {
    /// Whether the clock was set since `known`, rather than compared less exactly.
    #[must_use]
    pub const fn has_moved_from(&self, known: u64) -> bool {
        self.ns.abs_diff(known) > SLACK_NS + self.error_ns
    }
}

/// The error of the programs' clock that is tolerated, nanoseconds.
const SLACK_NS: u64 = 100;

/// The clock of the kernel's programs, nanoseconds.
#[must_use]
pub fn monotonic() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// The time since the host was booted, nanoseconds: [`monotonic`] and the time that the host was suspended.
#[must_use]
pub fn boottime() -> u64 {
    nanoseconds(clock_gettime(ClockId::Boottime))
}

/// How long the host has been suspended since it was booted, nanoseconds.
#[must_use]
pub fn suspended() -> u64 {
    let now = monotonic();
    boottime().saturating_sub(now)
}

/// Nanoseconds since 1970, UTC.
#[must_use]
pub fn realtime() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime))
}

/// International Atomic Time; equals `realtime` where the kernel was not given the leap seconds, or has no
/// such clock.
#[must_use]
pub fn tai() -> u64 {
    clock_gettime_dynamic(DynamicClockId::Tai).map_or_else(|_| realtime(), nanoseconds)
}

/// Sets this thread's timer slack to the minimum: it wakes on time, rather than up to 50 microseconds later.
pub fn wake_in_time() {
    // SAFETY: the call takes integers. If the kernel refuses, timers keep their slack.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}

fn nanoseconds(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    seconds.wrapping_mul(1_000_000_000).wrapping_add(u64::try_from(time.tv_nsec).unwrap_or_default())
}

#[cfg(test)]
mod tests;
