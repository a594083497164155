//! The periodic work of a switch, and its budget of messages.

use crate::timer::Timer;

/// The timers of a switch.
#[derive(Debug)]
pub(super) struct Timers {
    tick: Timer,
    refresh: Timer,
    look: Timer,
    /// The number of messages to senders of packets allowed before the next tick.
    messages: u32,
}

impl Timers {
    pub(super) fn new() -> Self {
        Self {
            tick: Timer::every(TICK_NS),
            refresh: Timer::every(REFRESH_NS),
            look: Timer::every(LOOK_NS),
            messages: MESSAGES,
        }
    }

    /// Whether a tick is due at `now`; sets the next one then.
    pub(super) fn tick(&mut self, now: u64) -> bool {
        let is_due = self.tick.is_due(now);
        if is_due {
            self.messages = MESSAGES;
        }
        is_due
    }

    /// Whether neighbours are to be checked at `now`; sets the next time then.
    pub(super) fn refresh(&mut self, now: u64) -> bool {
        self.refresh.is_due(now)
    }

    /// Whether the kernel's queues and filters are to be checked at `now`; sets the next time then.
    pub(super) fn looks(&mut self, now: u64) -> bool {
        self.look.is_due(now)
    }

    /// When the next tick is due, nanoseconds.
    pub(super) fn tick_at(&self) -> u64 {
        self.tick.at()
    }

    /// Whether another message may be sent.
    pub(super) fn may_send_message(&self) -> bool {
        self.messages > 0
    }

    /// Counts a message that was sent.
    pub(super) fn count_message(&mut self) {
        self.messages = self.messages.saturating_sub(1);
    }
}

/// The interval of periodic work, nanoseconds.
const TICK_NS: u64 = 10_000_000;
/// Messages to senders of packets in that interval: 1,000 a second.
const MESSAGES: u32 = 10;
/// How often the kernel's queues and filters are checked, nanoseconds.
const LOOK_NS: u64 = 500_000_000;
/// How often neighbours are checked, nanoseconds.
const REFRESH_NS: u64 = 15_000_000_000;
