//! The collector's time while a capture is replayed.

use inband_model::Nanos;

/// A clock that never goes back, driven by the times of a capture, whose own clock may have been set.
///
/// A capture has no monotonic clock beside its times. A time that is slightly earlier than the one before is
/// of a packet that was written late; a time that is much earlier means that the clock was set back, or that
/// the capture was merged from two whose clocks differ. Then this clock goes on, and the offset changes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CaptureClock {
    reached: Nanos,
    /// Offset of the capture's times, nanoseconds.
    ahead: i64,
    /// The offset before that one.
    before: i64,
}

impl CaptureClock {
    /// The time reached.
    pub(crate) fn now(&self) -> Nanos {
        self.reached
    }

    /// Takes the time of the next datagram; returns the new offset if it changes from then on.
    pub(crate) fn take(&mut self, at: Nanos) -> Option<i64> {
        let usual = shown(at, self.ahead);
        let is_known = self.follows(at, self.before);
        if self.follows(at, self.ahead) || (usual > self.reached && !is_known) {
            self.reached = usual.max(self.reached);
            return None;
        }
        // No time at which something has happened gets the new offset.
        let next = self.reached + Nanos(1);
        let new = at.0.cast_signed().saturating_sub(next.0.cast_signed());
        let ahead = if is_known { self.before } else { new };
        self.before = std::mem::replace(&mut self.ahead, ahead);
        self.reached = next.max(shown(at, ahead));
        Some(ahead)
    }

    /// Whether a time of the capture with an offset is about the time reached.
    fn follows(&self, at: Nanos, ahead: i64) -> bool {
        shown(at, ahead).0.abs_diff(self.reached.0) < STEP.0
    }

    /// Lets time pass after the last datagram.
    pub(crate) fn pass(&mut self, span: Nanos) {
        self.reached = self.reached + span;
    }
}

/// This clock's time at a time of a capture that is ahead of it.
fn shown(at: Nanos, ahead: i64) -> Nanos {
    Nanos(at.0.saturating_add_signed(ahead.saturating_neg()))
}

/// How much earlier than the one before a time must be for the clock to have been set back.
const STEP: Nanos = Nanos::from_secs(1);

#[cfg(test)]
mod tests;
