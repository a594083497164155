//! Report times, and the expiry of their interval.

/// When a report went out, nanoseconds of the device's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reported(pub(super) u64);

impl Reported {
    /// Whether the interval since the report has passed.
    ///
    /// A clock that goes back by less than an interval restarts the interval; one that goes back further was
    /// set, and the interval counts as passed.
    #[inline]
    pub(super) fn is_over(&mut self, now: u64, interval_ns: u64) -> bool {
        match now.checked_sub(self.0) {
            Some(passed) => passed >= interval_ns,
            None if self.0 - now > interval_ns => true,
            None => {
                self.0 = now;
                false
            }
        }
    }
}
