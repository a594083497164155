//! What is a time, and what is a span of time?

use std::fmt;
use std::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nanoseconds: a point in time counted from 1970, or a span between two.
///
/// Whose clock it is stands in the name of the field that holds it. Arithmetic saturates, because times
/// come from devices and no value of theirs may stop the collector.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Nanos = Nanos(0);
    /// The latest time there is.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// Makes a span of so many seconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Nanos {
        Nanos(seconds.saturating_mul(1_000_000_000))
    }

    /// Makes a span of so many milliseconds.
    #[must_use]
    pub const fn from_millis(milliseconds: u64) -> Nanos {
        Nanos(milliseconds.saturating_mul(1_000_000))
    }

    /// Makes a span of so many microseconds.
    #[must_use]
    pub const fn from_micros(microseconds: u64) -> Nanos {
        Nanos(microseconds.saturating_mul(1_000))
    }

    /// The span from `earlier` to this time; zero when `earlier` is not earlier.
    #[must_use]
    pub const fn since(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;

    fn add(self, span: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(span.0))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

#[cfg(test)]
mod tests;
