//! How high does a level stand, and how high did it stand lately?

use inband_model::Nanos;

/// A level that reports tell, such as the depth of a queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gauge {
    pub(super) last: u32,
    pub(super) last_at: Nanos,
    pub(super) max: u32,
    /// The highest of this second, and of the one before.
    recent: [u32; 2],
    second_began_at: Nanos,
}

impl Gauge {
    pub(super) fn new(now: Nanos) -> Gauge {
        Gauge { last: 0, last_at: now, max: 0, recent: [0; 2], second_began_at: now }
    }

    #[inline]
    pub(super) fn record(&mut self, now: Nanos, level: u32) {
        let elapsed = now.since(self.second_began_at);
        if elapsed >= SECOND {
            let before = if elapsed < SECOND + SECOND { self.recent[0] } else { 0 };
            self.recent = [0, before];
            self.second_began_at = now;
        }
        self.last = level;
        self.last_at = now;
        self.max = self.max.max(level);
        self.recent[0] = self.recent[0].max(level);
    }

    /// The highest level of the last second or two.
    pub(super) fn recent(&self, now: Nanos) -> u32 {
        let elapsed = now.since(self.second_began_at);
        if elapsed < SECOND {
            self.recent[0].max(self.recent[1])
        } else if elapsed < SECOND + SECOND {
            self.recent[0]
        } else {
            0
        }
    }
}

const SECOND: Nanos = Nanos::from_secs(1);
