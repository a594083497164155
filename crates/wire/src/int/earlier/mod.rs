//! INT of the versions before 2.0: 1.0, 0.5, Host-INT's extension of 0.5, and 2016.
//!
//! They share an 8-bit type in the [`shim`] and a metadata header of 8 bytes, which [`header_1_0`],
//! [`header_0_5`] and [`header_2016`] draw. [`layout`] gives the length of a hop's metadata, [`metadata`]
//! reads and writes it, [`tail`] is what 0.5 puts after the stack. [`recognise`] tells the versions apart,
//! [`host_int`] matches the fixed shape of Host-INT, and [`hop_by_hop`] shows a header of any of them with
//! its stack.

pub mod header_0_5;
pub mod header_1_0;
pub mod header_2016;
pub mod hop_by_hop;
pub mod host_int;
pub mod layout;
pub mod metadata;
pub(crate) mod place;
pub mod recognise;
pub mod shim;
pub mod tail;

pub use header_0_5::HeaderV0_5;
pub use header_1_0::HeaderV1_0;
pub use header_2016::HeaderV2016;
pub use hop_by_hop::{HeaderForm, Hop, HopByHop, HopCounts};
pub use layout::{InstructionSet, Layout};
pub use metadata::{Metadata, QueueCongestion};
pub use shim::Shim;
pub use tail::Tail;
