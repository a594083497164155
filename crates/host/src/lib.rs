//! INT on a Linux host's own traffic.
//!
//! Programs in the kernel start INT in what the host sends and take it out of what the host receives; they are
//! written in C, in `src/bpf`, and carried here as a compiled object, so that neither building nor running needs
//! a C compiler (`cargo xtask bpf` compiles them anew). The engine of `inband-node` is their reference: the same
//! packet through both gives the same bytes.

mod abi;
mod config;
pub mod drops;
mod error;
mod maps;
mod outcome;
pub mod probe;
mod programs;
mod rules;

pub use config::HostInt;
pub use error::HostError;
pub use outcome::Outcome;
pub use programs::{Passed, Program, Programs};
