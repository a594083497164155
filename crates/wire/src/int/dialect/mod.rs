//! Dialects: deviations of deployed implementations from the formats, and how their INT is read.
//!
//! A [`Deviation`] is one difference from a version; [`Location::deviations`](crate::int::Location::deviations)
//! holds those of a header, and all code that reads or writes the header honours them. A [`Dialect`] is
//! the name of the deviations, and of the mark, of one implementation. [`read_again`] finds them in packets.

mod deviation;
mod low_flags;
mod named;
mod read_again;

pub use deviation::{Deviation, Deviations};
pub use named::{Dialect, Reading};
pub use read_again::read_again;

#[cfg(test)]
mod tests;
