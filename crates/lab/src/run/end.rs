//! The end of a run.

use std::time::Duration;

/// When a run ends, unless it is stopped.
pub(super) struct End {
    /// The time since everything was running.
    at: Duration,
    /// Whether it may end earlier, once nothing is left to wait for.
    may_be_early: bool,
    /// Whether a running command puts it off.
    waits_for_commands: bool,
}

impl End {
    /// `duration`: the topology's; `last_by`: the latest `by` of its expectations.
    pub(super) fn new(duration: Option<Duration>, last_by: Option<Duration>, last_step: Duration) -> Self {
        let usual = last_step + AFTER_LAST_STEP;
        match (duration, last_by) {
            (Some(at), _) => Self { at, may_be_early: false, waits_for_commands: false },
            (None, Some(by)) => Self { at: by.max(last_step), may_be_early: true, waits_for_commands: false },
            (None, None) => Self { at: usual, may_be_early: true, waits_for_commands: true },
        }
    }

    /// Whether the run is over. `is_idle`: every step is played and no command runs; `is_settled`: no
    /// judgement can change.
    pub(super) fn is_reached(&mut self, now: Duration, is_idle: bool, is_settled: bool) -> bool {
        if self.waits_for_commands && !is_idle {
            self.at = self.at.max(now + AFTER_LAST_STEP);
        }
        now >= self.at || (self.may_be_early && is_idle && is_settled)
    }
}

/// The time for expectations without `by` after the last step and its command.
pub(super) const AFTER_LAST_STEP: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
