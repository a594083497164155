//! The recent share of lost reports of a stream.

use inband_model::Nanos;

/// Reports accepted and lost in the latest window of time, plus up to one slice.
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
    /// The current slice, after clearing those that fell out of the window.
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
    /// Whether an unknown number of reports, or more than this share of them, was lost.
    ///
    /// Where less than a window has passed, the rest is extrapolated at the same rate: the loss so far must
    /// exceed the share of a whole window.
    pub(super) fn exceeds(&self, parts_per_million: u64, covered: Nanos, window: Nanos) -> bool {
        let sent = u128::from(self.accepted) + u128::from(self.lost);
        let of_window = sent * u128::from(window.0.max(1)) / u128::from(covered.0.clamp(1, window.0.max(1)));
        self.lost_unknown > 0 || u128::from(self.lost) * 1_000_000 > of_window * u128::from(parts_per_million)
    }
}

/// Number of slices in a window; the current one is additional.
const SLICES: usize = 12;
