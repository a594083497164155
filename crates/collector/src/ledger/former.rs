//! The numbering of a node before its latest restart.

use inband_model::Nanos;

use super::space::SequenceSpace;

/// The numbering before a restart, as long as reports of it may still be on their way.
#[derive(Debug)]
pub(super) struct FormerNumbering {
    expected: u32,
    /// Numbers on each side of `expected` that may be on their way.
    reach: u32,
    /// When the last of them has arrived.
    until: Nanos,
}

impl FormerNumbering {
    /// No numbering.
    pub(super) fn none() -> Self {
        Self { expected: 0, reach: 0, until: Nanos::ZERO }
    }

    /// The numbering that would go on with `expected`.
    pub(super) fn new(expected: u32, reach: u32, until: Nanos) -> Self {
        Self { expected, reach, until }
    }

    /// Whether its reports may still arrive.
    pub(super) fn is_open(&self, now: Nanos) -> bool {
        now < self.until
    }

    /// Whether a number that is `distance` away from the one that is expected after the restart is more
    /// probably of this numbering.
    pub(super) fn claims(&self, space: SequenceSpace, now: Nanos, number: u32, distance: u32) -> bool {
        if !self.is_open(now) {
            return false;
        }
        let nearest = space.distance(self.expected, number).min(space.distance(number, self.expected));
        nearest < distance && nearest <= self.reach
    }

    /// Takes a number of this numbering; returns whether it is beyond all previous ones.
    pub(super) fn advance(&mut self, space: SequenceSpace, number: u32) -> bool {
        let is_ahead = space.distance(self.expected, number) < space.half();
        if is_ahead {
            self.expected = space.forward(number, 1);
        }
        is_ahead
    }
}
