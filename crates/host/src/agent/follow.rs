//! How the agent follows devices that come and go, clocks that are set, and new settings.

use inband_linux::clock;

use crate::error::HostError;

use super::Agent;
use super::notes::in_full;

impl Agent {
    /// Follows clocks that were set, and devices that come and go.
    pub(super) fn look_around(&mut self) -> Result<(), HostError> {
        self.renew_guard();
        for note in self.control.open_missing_gates() {
            self.notes.tell(note);
        }
        let (mut plan, all) = match self.kernel.plan(&mut self.settings) {
            Ok(planned) => planned,
            Err(error) => {
                self.notes.warn(format!("the devices stay as they are: {error}"));
                return Ok(());
            }
        };
        let known = self.plan.clock_offset;
        if !plan.clock_offset.has_moved_from(known.ns) {
            plan.clock_offset = known;
        } else if plan.devices == self.plan.devices {
            self.plan = plan;
            return self.configure_ports();
        }
        self.ports.renew_shims(&all, &self.plan, &mut self.kernel, &mut self.notes);
        self.ports.release_others(&all, &self.kernel)?;
        self.ports.release_retired(&mut self.kernel, clock::monotonic())?;
        if plan.devices != self.plan.devices || self.ports.is_retry_due() {
            self.plan = plan;
            self.follow_devices()?;
        }
        Ok(())
    }

    /// Forgets the leases of this host after it was suspended: others have ended them meanwhile.
    pub(super) fn notice_suspension(&mut self) -> Result<(), HostError> {
        if !self.kernel.was_suspended() {
            return Ok(());
        }
        self.notes.tell("the host was suspended: its leases are renewed".to_owned());
        self.control.forget_leases(&mut self.kernel.programs)
    }

    /// Starts another guard if the one before is gone, for example because memory was short.
    pub(super) fn renew_guard(&mut self) {
        let keeper = &mut self.kernel.keeper;
        let renewed = match keeper.renew_guard() {
            Ok(false) => return,
            Ok(true) => self.ports.hold(keeper),
            Err(error) => Err(error),
        };
        self.notes.warn(match renewed {
            Ok(()) => "the guard was gone: there is a new one".to_owned(),
            Err(error) => format!("the guard is gone: {}", in_full(&error)),
        });
    }

    /// Releases devices that are not in the plan, and opens those that are new in it.
    pub(super) fn follow_devices(&mut self) -> Result<(), HostError> {
        self.ports.follow(&self.plan, &mut self.kernel, &mut self.control, &mut self.notes)?;
        self.configure_ports()
    }

    fn configure_ports(&mut self) -> Result<(), HostError> {
        if let Some(losses) = &mut self.losses {
            losses.configure(&self.plan)?;
        }
        self.ports.configure(&self.plan, &mut self.kernel)
    }
}
