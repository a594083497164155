//! Network namespaces as the hosts, switches, links and collector of an INT network on one machine.
//!
//! Reading order: [`topology`] is what a file says, [`plan`] what that means in addresses, routes and configuration files, `world`
//! makes it of the kernel's parts, [`lab`] takes all of it up and down, [`wire`] is the process that carries frames of links with
//! delay, [`run`] plays steps and judges expectations. What a lab has is on disk, in [`mod@state`], before it is created.

mod api;
mod error;
pub mod lab;
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
