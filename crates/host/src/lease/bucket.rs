//! A token bucket.

/// Tokens that return with time; full at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    capacity: u32,
    /// How long a token takes to return, nanoseconds.
    token_ns: u64,
    /// When all tokens are back, of the monotonic clock.
    full_at: u64,
}

impl Bucket {
    /// A bucket of `capacity` tokens, with `count` returning in `per_ns`.
    pub(super) fn new(capacity: u32, count: u32, per_ns: u64) -> Self {
        Self { capacity: capacity.max(1), token_ns: per_ns / u64::from(count.max(1)), full_at: 0 }
    }

    /// Takes a token, if more than `reserve` are left.
    pub(super) fn take(&mut self, now: u64, reserve: u32) -> bool {
        let taken = self.full_at.saturating_sub(now).div_ceil(self.token_ns.max(1));
        if taken.saturating_add(u64::from(reserve)) >= u64::from(self.capacity) {
            return false;
        }
        self.full_at = self.full_at.max(now).saturating_add(self.token_ns);
        true
    }

    /// Returns all tokens.
    pub(super) const fn fill(&mut self) {
        self.full_at = 0;
    }

    /// Whether no token is missing.
    pub(super) const fn is_full(&self, now: u64) -> bool {
        self.full_at <= now
    }
}
