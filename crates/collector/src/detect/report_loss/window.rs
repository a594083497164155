//! How large a share of a stream's reports was lost lately.

use inband_model::Nanos;

/// Reports accepted and lost in the latest window of time, and up to a slice more.
#[derive(Debug, Default)]
pub(super) struct LossWindow {
    slices: [Slice; SLICES + 1],
    current: usize,
    current_began_at: Nanos,
}

/// What happened in one slice of the window, or in all of them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) accepted: u64,
    pub(super) lost: u64,
    pub(super) lost_unknown: u64,
}

impl LossWindow {
    /// The slice that holds the present, after those that fell out of the window were emptied.
    pub(super) fn at(&mut self, now: Nanos, window: Nanos) -> &mut Slice {
        let slice = (window.0 / SLICES as u64).max(1);
        let elapsed = now.since(self.current_began_at).0;
        if elapsed >= slice {
            let passed = elapsed / slice;
            for _ in 0..passed.min(SLICES as u64 + 1) {
                self.current = (self.current + 1) % self.slices.len();
                self.slices[self.current] = Slice::default();
            }
            self.current_began_at = self.current_began_at + Nanos(passed * slice);
        }
        &mut self.slices[self.current]
    }

    /// Sums over the window.
    pub(super) fn sum(&self) -> Slice {
        self.slices.iter().fold(Slice::default(), |sum, slice| Slice {
            accepted: sum.accepted + slice.accepted,
            lost: sum.lost + slice.lost,
            lost_unknown: sum.lost_unknown + slice.lost_unknown,
        })
    }
}

impl Slice {
    /// Whether anything unknown, or more than this share of the reports, was lost.
    ///
    /// Where less than a window has passed, the reports to come count as sent: what is lost by then is more than the share
    /// of a whole window at this rate.
    pub(super) fn exceeds(&self, parts_per_million: u64, covered: Nanos, window: Nanos) -> bool {
        let sent = u128::from(self.accepted) + u128::from(self.lost);
        let of_window = sent * u128::from(window.0.max(1)) / u128::from(covered.0.clamp(1, window.0.max(1)));
        self.lost_unknown > 0 || u128::from(self.lost) * 1_000_000 > of_window * u128::from(parts_per_million)
    }
}

/// Slices in a window; the one that holds the present comes on top.
const SLICES: usize = 12;
