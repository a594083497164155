//! The recent episodes of congestion of a queue.

use std::collections::VecDeque;

use inband_model::Nanos;

use super::settings::CongestionSettings;

/// When the latest episodes of a queue began, at most [`MAX_REMEMBERED`], by the collector's clock.
#[derive(Debug, Default)]
pub(super) struct Recurrence {
    began_at: VecDeque<Nanos>,
}

impl Recurrence {
    /// Records that an episode begins; returns whether there were too many in a second to announce each one.
    pub(super) fn note(&mut self, settings: &CongestionSettings, now: Nanos) -> bool {
        self.began_at.push_back(now);
        let is_old = |at: &Nanos| now.since(*at) > SECOND;
        while self.began_at.front().is_some_and(is_old) || self.began_at.len() > MAX_REMEMBERED {
            self.began_at.pop_front();
        }
        self.began_at.len() >= settings.recurring.clamp(2, MAX_REMEMBERED)
    }

    /// Removes all episodes, because the queue has been calm long enough.
    pub(super) fn clear(&mut self) {
        self.began_at.clear();
    }
}

const SECOND: Nanos = Nanos::from_secs(1);
/// Maximum number of episodes remembered for a queue.
const MAX_REMEMBERED: usize = 64;
