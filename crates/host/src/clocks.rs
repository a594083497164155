//! The kinds of clocks in messages between agents.

use inband_linux::clock::Clock;

/// The number of a kind.
pub(crate) const fn code(clock: Clock) -> u8 {
    match clock {
        Clock::Realtime => 1,
        Clock::Tai => 2,
        Clock::Monotonic => 3,
    }
}

/// The kind that a message names; `None`: unknown.
pub(crate) const fn from_code(code: u8) -> Option<Clock> {
    match code {
        1 => Some(Clock::Realtime),
        2 => Some(Clock::Tai),
        3 => Some(Clock::Monotonic),
        _ => None,
    }
}

/// Whether times of these two hosts' clocks can be compared.
pub(crate) fn are_comparable(one: Clock, other: Clock) -> bool {
    one == other && one != Clock::Monotonic
}
