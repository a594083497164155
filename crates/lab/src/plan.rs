//! The plan of a topology: nodes with interfaces and addresses, segments, routes and configuration files.

mod address;
mod config;
mod judge;
mod names;
mod parts;
mod resolve;
mod routes;
mod segment;
mod settings;

use crate::topology::{Mistake, Topology};

pub(crate) use config::API_INSIDE;
pub use config::{collector_toml, host_toml, names_toml, switch_toml};
pub use parts::{Address, Interface, Kind, Link, Node, Plan, Segment, management};
pub use routes::{Hop, Route, Routes, Target};

impl Plan {
    /// Plans a topology.
    ///
    /// # Errors
    /// The first mistake in it.
    pub fn new(topology: &Topology) -> Result<Self, Mistake> {
        let mut plan = resolve::resolve(topology)?;
        plan.segments = segment::segments(&plan);
        address::assign(&mut plan, topology)?;
        judge::judge(&plan, topology)?;
        Ok(plan)
    }
}

#[cfg(test)]
mod tests;
