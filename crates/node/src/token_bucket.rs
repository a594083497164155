//! A token bucket.

/// A token bucket that holds the tokens of one second; it starts full.
#[derive(Clone, Debug)]
pub(crate) struct TokenBucket {
    /// Cost of a token, nanoseconds; at least one.
    cost_ns: u64,
    /// Saved time, nanoseconds; at most a second.
    saved_ns: u64,
    /// Time of the latest call, nanoseconds of the device's clock.
    now: Option<u64>,
}

const SECOND_NS: u64 = 1_000_000_000;

impl TokenBucket {
    /// Permits `per_second` events a second, at least one.
    pub(crate) fn new(per_second: u32) -> Self {
        Self { cost_ns: (SECOND_NS / u64::from(per_second.max(1))).max(1), saved_ns: SECOND_NS, now: None }
    }

    /// Accrues tokens for the time passed until `now`; a clock that goes back accrues none.
    pub(crate) fn advance(&mut self, now: u64) {
        let passed = self.now.map_or(0, |before| now.saturating_sub(before));
        self.saved_ns = self.saved_ns.saturating_add(passed).min(SECOND_NS);
        self.now = Some(now);
    }

    /// Takes a token at `now`; `false` if there is none.
    pub(crate) fn take_at(&mut self, now: u64) -> bool {
        self.advance(now);
        self.take()
    }

    /// Takes a token; `false` if there is none.
    pub(crate) fn take(&mut self) -> bool {
        match self.saved_ns.checked_sub(self.cost_ns) {
            Some(left) => {
                self.saved_ns = left;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests;
