//! The agent's state in the kernel: programs, network devices, and the keeper of its sinks.

use inband_linux::device::{self, Device};
use inband_linux::netlink::Netlink;

use super::keeper::Keeper;
use crate::error::HostError;
use crate::plan::Plan;
use crate::programs::Programs;
use crate::settings::HostSettings;

/// The agent's side of the kernel.
pub(super) struct Kernel {
    pub(super) programs: Programs,
    pub(super) netlink: Netlink,
    pub(super) keeper: Keeper,
}

impl Kernel {
    /// The plan for the settings and the present devices; see [`plan`].
    pub(super) fn plan(&mut self, settings: &mut HostSettings) -> Result<(Plan, Vec<Device>), HostError> {
        plan(settings, &mut self.netlink)
    }
}

/// The plan for the settings, whose node id is resolved, and the present devices.
pub(super) fn plan(
    settings: &mut HostSettings,
    netlink: &mut Netlink,
) -> Result<(Plan, Vec<Device>), HostError> {
    let all = device::all(netlink).map_err(|reason| HostError::system("list the devices", reason))?;
    settings.resolve_id(netlink, &all)?;
    Ok((Plan::new(settings, &all, settings.host.clock.offset())?, all))
}
