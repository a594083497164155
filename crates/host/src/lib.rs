//! INT on a Linux host's own traffic.
//!
//! Programs in the kernel start INT in outgoing traffic and remove it from incoming traffic; they are written
//! in C, in `src/bpf`, and included as a compiled object, so that neither building nor running needs a C
//! compiler (`cargo xtask bpf` compiles them anew). The engine of `inband-node` is their reference: the same
//! packet through both gives the same bytes.

mod abi;
mod agent;
mod beside;
mod clocks;
mod config;
mod coverage;
pub mod drops;
mod error;
mod guard;
mod headers;
mod identity;
mod lease;
mod load;
mod lock;
mod maps;
mod memory;
pub mod object;
mod outcome;
mod pattern;
mod peers;
mod pins;
mod plan;
pub mod probe;
mod prober;
mod programs;
mod proofs;
mod remove;
mod rules;
mod settings;
mod shim;
mod trial;

pub use agent::{Agent, FlowStatus, PeerStatus, Tally};
pub use beside::{Beside, Hook};
pub use config::HostInt;
pub use coverage::Coverage;
pub use error::HostError;
pub use guard::keep_watch;
pub use identity::{HostNode, NodeId};
pub use inband_linux::clock::Clock;
pub use lease::{FlowState, Withheld};
pub use outcome::{Outcome, Traffic};
pub use programs::{Passed, Program, Programs};
pub use remove::{Removed, remove};
pub use settings::{HostSection, HostSettings, MIN_SECRET_BYTES, PeerSettings};
pub use trial::{EncapsulationTrial, Outlook, PeerAgent, Trial, try_path};
