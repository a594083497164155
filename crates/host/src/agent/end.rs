//! The end of INT on this host.

use std::time::{Duration, Instant};

use inband_linux::clock;

use crate::error::HostError;
use crate::outcome::Outcome;

use super::{Agent, HEARTBEAT_NS, Tally};

/// How often withdrawals of leases are repeated.
const WITHDRAW_AGAIN: Duration = Duration::from_millis(100);
/// How long packets take through the domain where no queue is full.
const DRAIN: Duration = Duration::from_millis(50);
/// How long no packet with INT has come in when none is assumed to wait in a queue of the domain.
const QUIET: Duration = Duration::from_millis(500);
/// How long the end waits for such packets, whatever comes.
const MAX_DRAIN: Duration = Duration::from_secs(10);

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
            self.beat()?;
            self.wait(WITHDRAW_AGAIN)?;
            self.hear_events();
            self.control.hear(&mut self.kernel.programs, clock::monotonic())?;
        }
        // The holders of an earlier agent's leases are unknown, so the leases cannot be withdrawn.
        while clock::monotonic() < self.kernel.keeper.held_until() {
            self.beat()?;
            self.wait(WITHDRAW_AGAIN)?;
            self.hear_events();
        }
        self.drain()
    }

    /// Lets the programs work on: without an agent, merged datagrams with INT would be dropped.
    fn beat(&mut self) -> Result<(), HostError> {
        self.kernel.programs.beat(clock::boottime() + HEARTBEAT_NS)
    }

    /// Waits for packets with INT that were sent before, and are still in flight.
    fn drain(&mut self) -> Result<(), HostError> {
        let stripped = |agent: &Self| agent.kernel.programs.count(Outcome::Stripped);
        let linger = Duration::from_millis(u64::from(self.settings.host.linger_ms)).min(MAX_DRAIN);
        let since = Instant::now();
        let (mut count, mut rose_at) = (stripped(self)?, since);
        let quiet = if count == 0 || self.kernel.keeper.keeps_sinks() { DRAIN } else { QUIET };
        while rose_at.elapsed() < quiet && since.elapsed() < linger {
            self.beat()?;
            std::thread::sleep(DRAIN);
            self.hear_events();
            let now = stripped(self)?;
            if now != count {
                (count, rose_at) = (now, Instant::now());
            }
        }
        Ok(())
    }
}
