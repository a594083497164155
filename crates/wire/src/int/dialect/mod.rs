//! How do deployed implementations depart from the formats, and how is their INT read?
//!
//! A [`Deviation`] is one difference from a version; [`Location::deviations`](crate::int::Location::deviations)
//! says which of them a header has, and everything that reads or writes a header goes by that. A [`Dialect`] is
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
