//! Removal of everything that agents left in this network namespace.

use std::io;

use inband_linux::netlink::Netlink;

use crate::error::HostError;
use crate::lock::Lock;
use crate::pins;
use crate::settings::{self, HostSettings};
use crate::shim::Shim;

/// What was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Programs that remove INT.
    pub sinks: usize,
    /// Pairs of virtual devices.
    pub shims: usize,
}

/// Detaches the sinks and removes the shims that agents left; without `settings` those with default names.
///
/// # Errors
/// An agent that runs, or an error of the system.
pub fn remove(settings: Option<&HostSettings>) -> Result<Removed, HostError> {
    let (pins, shim) = match settings {
        Some(settings) => (settings.host.pins.clone(), settings.host.shim.clone()),
        None => (settings::pins(), settings::shim_name()),
    };
    let _lock = Lock::take(&shim)?;
    let fault = |reason: io::Error| HostError::system("remove what an agent has left", reason);
    let sinks = pins::remove_all(&pins).map_err(|reason| match reason.kind() {
        io::ErrorKind::ResourceBusy => HostError::pins_taken(&pins),
        _ => fault(reason),
    })?;
    let mut netlink = Netlink::open().map_err(fault)?;
    let shims = Shim::remove_left(&mut netlink, &shim).map_err(fault)?;
    Ok(Removed { sinks, shims })
}
