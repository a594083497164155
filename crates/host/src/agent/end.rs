//! The end of INT on this host.

use std::time::{Duration, Instant};

use inband_linux::clock;

use crate::error::HostError;

use super::{Agent, Tally};

/// How often withdrawals of leases are repeated.
const WITHDRAW_AGAIN: Duration = Duration::from_millis(100);
/// How long packets take through the domain.
const DRAIN: Duration = Duration::from_millis(50);

impl Agent {
    /// Ends INT on this host and restores its devices.
    ///
    /// # Errors
    /// An error of the system.
    pub fn stop(mut self) -> Result<Tally, HostError> {
        self.ports.close_sources();
        self.end_leases()?;
        self.hear_events();
        if let Some(losses) = &mut self.losses {
            losses.finish((&self.plan, self.ports.all()), &mut self.reporter.engine)?;
        }
        self.reporter.flush();
        let tally = self.tally()?;
        self.ports.close(&mut self.kernel)?;
        Ok(tally)
    }

    /// Waits until no source sends INT.
    fn end_leases(&mut self) -> Result<(), HostError> {
        let since = Instant::now();
        let patience = Duration::from_millis(u64::from(self.settings.host.lease_ms));
        while since.elapsed() < patience && self.control.withdraw(None, clock::monotonic()) {
            self.wait(WITHDRAW_AGAIN)?;
            self.hear_events();
            self.control.hear(&mut self.kernel.programs, clock::monotonic())?;
        }
        // The holders of an earlier agent's leases are unknown, so the leases cannot be withdrawn.
        while clock::monotonic() < self.kernel.keeper.held_until() {
            self.wait(WITHDRAW_AGAIN)?;
            self.hear_events();
        }
        // Packets sent before that are still in flight.
        std::thread::sleep(DRAIN);
        Ok(())
    }
}
