//! May another one go out within this second?

/// A token bucket that holds what a second allows.
#[derive(Clone, Debug)]
pub(crate) struct RateLimit {
    /// What one costs, nanoseconds.
    cost_ns: u64,
    credit_ns: u64,
    last: Option<u64>,
}

const SECOND_NS: u64 = 1_000_000_000;

impl RateLimit {
    /// A limit of so many a second; `None` for 0, which is no limit.
    pub(crate) fn new(per_second: u32) -> Option<Self> {
        let cost_ns = SECOND_NS.checked_div(per_second.into())?.max(1);
        Some(Self { cost_ns, credit_ns: SECOND_NS, last: None })
    }

    /// Takes one at `now`, nanoseconds; `false` where there is none left. A clock that goes back earns nothing.
    pub(crate) fn takes(&mut self, now: u64) -> bool {
        let earned = self.last.map_or(0, |last| now.saturating_sub(last));
        self.last = Some(now);
        self.credit_ns = self.credit_ns.saturating_add(earned).min(SECOND_NS);
        match self.credit_ns.checked_sub(self.cost_ns) {
            Some(rest) => {
                self.credit_ns = rest;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests;
