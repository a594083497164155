//! How does INT end on this host?

use std::time::{Duration, Instant};

use inband_linux::clock;

use crate::error::HostError;

use super::{Agent, Port, Tally};

/// How often sources are told again that their leases have ended.
const WITHDRAW_AGAIN: Duration = Duration::from_millis(100);
/// How long packets are on their way through the domain.
const DRAIN: Duration = Duration::from_millis(50);

impl Agent {
    /// Ends INT on this host: its devices are as they were.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn stop(mut self) -> Result<Tally, HostError> {
        self.ports.iter_mut().for_each(Port::close_source);
        self.end_leases()?;
        self.hear_events();
        if let Some(losses) = &mut self.losses {
            losses.finish((&self.plan, &self.ports), &mut self.engine)?;
        }
        self.engine.flush_reports();
        self.send_reports();
        let tally = self.tally()?;
        self.close_ports()?;
        Ok(tally)
    }

    /// Waits until nobody sends INT any more.
    fn end_leases(&mut self) -> Result<(), HostError> {
        let since = Instant::now();
        let patience = Duration::from_millis(u64::from(self.settings.host.lease_ms));
        while since.elapsed() < patience && self.control.withdraw(None, clock::monotonic()) {
            self.wait(WITHDRAW_AGAIN)?;
            self.hear_events();
            self.control.hear(&mut self.programs, clock::monotonic())?;
        }
        // What was sent before that is still on its way.
        std::thread::sleep(DRAIN);
        Ok(())
    }

    /// Takes every device out of INT; from here on nobody keeps the sinks, unless they are to stay.
    pub(super) fn close_ports(&mut self) -> Result<(), HostError> {
        self.ports.iter_mut().for_each(Port::close_source);
        let mut result = self.keeper.dismiss();
        for port in self.ports.drain(..) {
            let closed = port.close(&mut self.programs, (&mut self.netlink, &self.keeper));
            result = result.and(closed);
        }
        result
    }
}
