//! How often a queue has been congested lately.

use std::collections::VecDeque;

use inband_model::Nanos;

use super::settings::CongestionSettings;

/// When the latest episodes of a queue began, at most [`MAX_REMEMBERED`], by our clock.
#[derive(Debug, Default)]
pub(super) struct Recurrence {
    began_at: VecDeque<Nanos>,
}

impl Recurrence {
    /// Notes that an episode begins; gives whether there were too many in a second to tell each by itself.
    pub(super) fn note(&mut self, settings: &CongestionSettings, now: Nanos) -> bool {
        self.began_at.push_back(now);
        let is_old = |at: &Nanos| now.since(*at) > SECOND;
        while self.began_at.front().is_some_and(is_old) || self.began_at.len() > MAX_REMEMBERED {
            self.began_at.pop_front();
        }
        self.began_at.len() >= settings.recurring.clamp(2, MAX_REMEMBERED)
    }

    /// Forgets the episodes: the queue has been calm for long.
    pub(super) fn clear(&mut self) {
        self.began_at.clear();
    }
}

const SECOND: Nanos = Nanos::from_secs(1);
/// Most episodes of a queue that are remembered.
const MAX_REMEMBERED: usize = 64;
