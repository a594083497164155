//! How large a share of the packets stays too long?

use inband_model::Nanos;

use crate::book::Signs;

use super::settings::LatencyObjectiveSettings;

/// The reports of a port in the latest window of time, kept in slices of it.
#[derive(Debug, Default)]
pub(super) struct Objective {
    slices: [Tally; SLICES],
    current: usize,
    current_began_at: Nanos,
    signs: Signs,
}

/// Reports, and those of them that tell of a latency over the bound.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) reports: u64,
    pub(super) over: u64,
}

impl Objective {
    /// Takes in a latency; returns the tally of the window when too many are over, once in a while.
    #[inline]
    pub(super) fn record(
        &mut self,
        settings: &LatencyObjectiveSettings,
        now: Nanos,
        latency: Nanos,
    ) -> Option<Tally> {
        let slice = (settings.window().0 / SLICES as u64).max(1);
        let elapsed = now.since(self.current_began_at).0;
        if elapsed >= slice {
            self.rotate(now, elapsed / slice);
        }
        let tally = &mut self.slices[self.current];
        tally.reports += 1;
        if latency.0 <= settings.bound_ns {
            return None;
        }
        tally.over += 1;
        self.judge(settings, now)
    }

    fn rotate(&mut self, now: Nanos, slices: u64) {
        for _ in 0..slices.min(SLICES as u64) {
            self.current = (self.current + 1) % SLICES;
            self.slices[self.current] = Tally::default();
        }
        self.current_began_at = now;
    }

    fn judge(&mut self, settings: &LatencyObjectiveSettings, now: Nanos) -> Option<Tally> {
        if !self.signs.are_due(now, settings.course()) {
            return None;
        }
        let sum = self.slices.iter().fold(Tally::default(), |sum, tally| Tally {
            reports: sum.reports + tally.reports,
            over: sum.over + tally.over,
        });
        let is_over =
            u128::from(sum.over) * 1_000 > u128::from(sum.reports) * u128::from(settings.share_permille);
        if sum.reports < settings.least_reports || !is_over {
            return None;
        }
        self.signs.announce(now);
        Some(sum)
    }
}

const SLICES: usize = 6;
