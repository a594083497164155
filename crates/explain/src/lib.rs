//! What the bytes of a packet or telemetry report say.
//!
//! [`explain`] names every field of a report with the place of its bits; [`datagram`] finds the UDP datagram in a packet.

mod datagram;
mod fields;

pub use datagram::{Datagram, datagram};
pub use fields::explain;
