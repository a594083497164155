//! Network namespaces as the hosts, switches, links and collector of an INT network on one machine.
//!
//! Reading order: [`topology`] is the file, [`plan`] turns it into addresses, routes and configuration files,
//! `world` creates them with the kernel's parts, [`lab`] creates and removes all of it, [`wire`] is the
//! process that relays frames of links with delay, [`run`] plays steps and judges expectations. Everything a
//! lab creates is recorded on disk first, by [`mod@state`].

mod api;
mod error;
pub mod lab;
mod logs;
pub mod plan;
pub mod process;
pub mod quantity;
pub mod run;
pub mod state;
pub mod status;
mod sys;
pub mod topology;
pub mod wire;
mod world;

pub use error::LabError;
pub use lab::Lab;
