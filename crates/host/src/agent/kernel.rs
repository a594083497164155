//! The agent's state in the kernel: programs, network devices, and the keeper of its sinks.

use inband_linux::clock;
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
    /// How long the host has been suspended since it was booted, as far as the agent knows, nanoseconds.
    pub(super) suspended_ns: u64,
}

/// The clocks are not read simultaneously; what is shorter ends no lease, nanoseconds.
const MIN_SUSPENSION_NS: u64 = 500_000_000;

impl Kernel {
    /// The plan for the settings and the present devices; see [`plan`].
    pub(super) fn plan(&mut self, settings: &mut HostSettings) -> Result<(Plan, Vec<Device>), HostError> {
        plan(settings, &mut self.netlink)
    }

    /// Whether the host was suspended since the last call.
    pub(super) fn was_suspended(&mut self) -> bool {
        let suspended_ns = clock::suspended();
        let was_suspended = suspended_ns >= self.suspended_ns.saturating_add(MIN_SUSPENSION_NS);
        if was_suspended {
            self.suspended_ns = suspended_ns;
        }
        was_suspended
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
