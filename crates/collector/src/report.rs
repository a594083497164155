//! What does one individual report say?

mod faults;

pub use self::faults::Fault;
pub(crate) use self::faults::Faults;
