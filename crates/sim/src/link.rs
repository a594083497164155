//! Link delays and port utilization.

use crate::time::{MILLISECOND, Nanos, SECOND};

#[cfg(test)]
mod tests;

/// One direction of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// Bits the link carries in a second; at least 1.
    pub bits_per_second: u64,
    /// Propagation delay.
    pub propagation_ns: Nanos,
}

impl LinkConfig {
    /// Time from the first bit of a frame to the last. Includes Ethernet overhead, so that a saturated link
    /// carries the same load as a real one.
    pub fn transmission_ns(&self, frame_bytes: usize) -> Nanos {
        let bits = (frame_bytes as u128 + ETHERNET_OVERHEAD_BYTES) * 8;
        let ns = (bits * u128::from(SECOND)).div_ceil(u128::from(self.bits_per_second.max(1)));
        Nanos::try_from(ns).unwrap_or(Nanos::MAX)
    }
}

/// Exponentially weighted moving average of the time a port spends sending: `u = d + u (1 - dt / tau)`,
/// where `d` is the time a frame takes. At full load it settles at `tau`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Utilization {
    busy_ns: Nanos,
    updated_at: Nanos,
}

impl Utilization {
    /// Adds a frame whose transmission begins at `now` and takes `transmission_ns`.
    pub(crate) fn add(&mut self, now: Nanos, transmission_ns: Nanos) {
        self.busy_ns = (self.decayed_ns(now) + transmission_ns).min(TAU_NS);
        self.updated_at = now;
    }

    /// Share of recent time in which the port was sending, in 1/100 %: 0 to 10 000.
    pub(crate) fn hundredths_of_percent(&self, now: Nanos) -> u32 {
        u32::try_from(self.decayed_ns(now) * 10_000 / TAU_NS).unwrap_or(10_000)
    }

    fn decayed_ns(&self, now: Nanos) -> Nanos {
        let idle_ns = now.saturating_sub(self.updated_at).min(TAU_NS);
        self.busy_ns * (TAU_NS - idle_ns) / TAU_NS
    }
}

/// Preamble and start delimiter 8, frame check sequence 4, gap between frames 12.
const ETHERNET_OVERHEAD_BYTES: u128 = 24;

/// Time constant of the average.
const TAU_NS: Nanos = MILLISECOND;
