//! Nanoseconds, as a point in time or a span.

use std::fmt;
use std::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nanoseconds: a point in time counted from 1970, or a span between two.
///
/// The name of the field that holds it tells whose clock it is. Arithmetic saturates, because times come from
/// devices and none of their values may stop the collector.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The zero time.
    pub const ZERO: Nanos = Nanos(0);
    /// The latest possible time.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// A span of `seconds`.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Nanos {
        Nanos(seconds.saturating_mul(1_000_000_000))
    }

    /// A span of `milliseconds`.
    #[must_use]
    pub const fn from_millis(milliseconds: u64) -> Nanos {
        Nanos(milliseconds.saturating_mul(1_000_000))
    }

    /// A span of `microseconds`.
    #[must_use]
    pub const fn from_micros(microseconds: u64) -> Nanos {
        Nanos(microseconds.saturating_mul(1_000))
    }

    /// The span from `earlier` to this time; zero when `earlier` is later.
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
