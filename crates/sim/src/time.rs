//! Virtual time: nanoseconds since the start of the simulation.

/// A point in virtual time, or a duration, in nanoseconds.
pub type Nanos = u64;

/// One microsecond.
pub const MICROSECOND: Nanos = 1_000;
/// One millisecond.
pub const MILLISECOND: Nanos = 1_000_000;
/// One second.
pub const SECOND: Nanos = 1_000_000_000;
