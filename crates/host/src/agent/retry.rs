//! The retry timer of devices that could not be opened.

/// Waits that double, from a second to a minute, of the monotonic clock in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Retry {
    /// `None`: nothing has failed.
    next: Option<(u64, u64)>,
}

const FIRST_NS: u64 = 1_000_000_000;
const MAX_NS: u64 = 60_000_000_000;

impl Retry {
    /// Whether something has failed and the next attempt is due.
    pub(super) fn is_due(self, now: u64) -> bool {
        self.next.is_some_and(|(at, _)| now >= at)
    }

    /// Records an attempt at `now`; `is_whole`: nothing is left to retry.
    pub(super) fn tried(&mut self, now: u64, is_whole: bool) {
        let wait = match self.next {
            // An attempt ahead of time, because the devices have changed.
            Some((at, wait)) if now < at => wait,
            Some((_, wait)) => (2 * wait).min(MAX_NS),
            None => FIRST_NS,
        };
        self.next = (!is_whole).then_some((now.saturating_add(wait), wait));
    }
}

#[cfg(test)]
mod tests {
    use super::Retry;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn waits_double_up_to_a_minute_and_begin_anew() {
        let mut retry = Retry::default();
        assert!(!retry.is_due(u64::MAX));
        let mut now = 5;
        for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
            retry.tried(now, false);
            assert!(!retry.is_due(now + wait * SECOND - 1), "{wait}");
            now += wait * SECOND;
            assert!(retry.is_due(now), "{wait}");
        }
        retry.tried(now, true);
        assert!(!retry.is_due(u64::MAX));
        retry.tried(now, false);
        assert!(retry.is_due(now + SECOND));
    }

    #[test]
    fn an_attempt_before_its_time_does_not_lengthen_the_wait() {
        let mut retry = Retry::default();
        for now in 0..10 {
            retry.tried(now, false);
        }
        assert!(retry.is_due(9 + SECOND) && !retry.is_due(8 + SECOND));
    }
}
