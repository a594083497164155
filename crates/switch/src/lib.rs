//! One INT node on live interfaces.
//!
//! The program receives frames, decides where they go, queues them, and does the node's INT work when they
//! leave a queue: depth, latency and drops in the metadata are those of its own queues. Reading order:
//! [`Switch`] is the loop; `finish` turns frames into what they would be on a wire, `forward` decides, `port`
//! queues and sends, `follow` tracks the kernel's routes and neighbours, `guard` keeps the kernel's own stack
//! from forwarding as well, `claim` another switch. Where Linux forwards, `kernel` runs programs that do INT
//! on the path; [`LiveSwitch`] is either.
#![forbid(unsafe_code)]

mod assembly;
mod claim;
mod config;
mod counts;
mod engine;
mod error;
mod finish;
mod follow;
mod forward;
mod guard;
mod hash;
mod kernel;
mod live;
mod packet;
mod port;
mod privileges;
mod reports;
mod rings;
mod status;
mod telemetry;
mod timer;
mod waiting;

pub use config::{check, metrics_address};
pub use counts::Cause;
pub use engine::Switch;
pub use error::SwitchError;
pub use kernel::KernelSwitch;
pub use live::LiveSwitch;
pub use privileges::keep_needed;
pub use status::{PortStatus, Status};
