//! A level: its latest and recent values.

use inband_model::Nanos;

/// A level in reports, such as the depth of a queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gauge {
    pub(super) last: u32,
    pub(super) last_at: Nanos,
    pub(super) max: u32,
    /// The current second, and the previous one.
    seconds: [Second; 2],
    second_began_at: Nanos,
}

/// What was reported in one second.
#[derive(Debug, Clone, Copy, Default)]
struct Second {
    highest: u32,
    count: u32,
    sum: u64,
}

impl Gauge {
    pub(super) fn new(now: Nanos) -> Gauge {
        Gauge { last: 0, last_at: now, max: 0, seconds: [Second::default(); 2], second_began_at: now }
    }

    #[inline]
    pub(super) fn record(&mut self, now: Nanos, level: u32) {
        let elapsed = now.since(self.second_began_at);
        if elapsed >= SECOND {
            let before = if elapsed < SECOND + SECOND { self.seconds[0] } else { Second::default() };
            self.seconds = [Second::default(), before];
            self.second_began_at = now;
        }
        self.last = level;
        self.last_at = now;
        self.max = self.max.max(level);
        let second = &mut self.seconds[0];
        second.highest = second.highest.max(level);
        second.count = second.count.saturating_add(1);
        second.sum += u64::from(level);
    }

    /// The highest level of the last second or two.
    pub(super) fn recent(&self, now: Nanos) -> u32 {
        self.recent_seconds(now).iter().map(|second| second.highest).max().unwrap_or(0)
    }

    /// The mean level of the last second or two; `None` when nothing was reported then.
    pub(super) fn mean(&self, now: Nanos) -> Option<u32> {
        let seconds = self.recent_seconds(now).iter();
        let (sum, count) =
            seconds.fold((0, 0), |(sum, count), second| (sum + second.sum, count + u64::from(second.count)));
        u32::try_from(sum.checked_div(count)?).ok()
    }

    fn recent_seconds(&self, now: Nanos) -> &[Second] {
        let elapsed = now.since(self.second_began_at);
        match () {
            () if elapsed < SECOND => &self.seconds,
            () if elapsed < SECOND + SECOND => &self.seconds[..1],
            () => &[],
        }
    }
}

const SECOND: Nanos = Nanos::from_secs(1);
