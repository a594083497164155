//! The end of a run.

use std::time::Duration;

/// When a run ends, unless it is stopped.
pub(super) struct End {
    /// The time since everything was running.
    at: Duration,
    /// Whether it may end earlier, once nothing is left to wait for.
    may_be_early: bool,
    /// Until when a running command puts it off; `None`: not at all.
    waits_until: Option<Duration>,
}

impl End {
    /// `duration`: the topology's; `last_by`: the latest `by` of its expectations.
    pub(super) fn new(duration: Option<Duration>, last_by: Option<Duration>, last_step: Duration) -> Self {
        let usual = last_step + AFTER_LAST_STEP;
        match (duration, last_by) {
            (Some(at), _) => Self { at, may_be_early: false, waits_until: None },
            (None, Some(by)) => Self { at: by.max(last_step), may_be_early: true, waits_until: None },
            (None, None) => Self { at: usual, may_be_early: true, waits_until: Some(usual + MAX_WAIT) },
        }
    }

    /// Whether the run is over. `is_idle`: every step is played and no command runs; `is_settled`: no
    /// judgement can change.
    pub(super) fn is_reached(&mut self, now: Duration, is_idle: bool, is_settled: bool) -> bool {
        if let Some(until) = self.waits_until.filter(|_| !is_idle) {
            self.at = self.at.max((now + AFTER_LAST_STEP).min(until));
        }
        now >= self.at || (self.may_be_early && is_idle && is_settled)
    }
}

/// The time for expectations without `by` after the last step and its command.
pub(super) const AFTER_LAST_STEP: Duration = Duration::from_secs(10);

/// How long a command may put off the end, which one that never ends would for ever.
const MAX_WAIT: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests;
