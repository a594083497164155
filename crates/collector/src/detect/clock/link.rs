//! How long packets take over one link, by the clocks at its ends.

use inband_model::api::LatencySummary;
use inband_model::Nanos;

use crate::book::Signs;
use crate::sketch::Sketch;

use super::settings::ClockSettings;

/// The times that packets take over one link, by the clocks at its ends.
#[derive(Debug)]
pub(super) struct LinkClock {
    latency: Sketch,
    /// The least time so far, below zero where the clocks disagree.
    lowest_ns: i64,
    /// The least times of the latest seconds, with when each was seen; the first `filled`.
    seconds: [(Nanos, i64); SECONDS],
    filled: usize,
    /// This second: when it began, and its least time.
    second: Option<(Nanos, i64)>,
    negative: Signs,
    drifting: Signs,
}

/// What the timestamps of a packet show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disagreement {
    /// It came in before it was sent.
    Negative {
        /// The least time so far.
        lowest_ns: i64,
    },
    /// The clock at the end of the link gains so much in a second.
    Drift {
        /// Nanoseconds.
        ns_per_second: i64,
    },
}

impl LinkClock {
    pub(super) fn new() -> LinkClock {
        LinkClock {
            latency: Sketch::new(),
            lowest_ns: i64::MAX,
            seconds: [(Nanos::ZERO, 0); SECONDS],
            filled: 0,
            second: None,
            negative: Signs::default(),
            drifting: Signs::default(),
        }
    }

    /// Takes in when a packet was sent and when it came in, by the clocks of both ends.
    pub(super) fn record(
        &mut self,
        settings: &ClockSettings,
        now: Nanos,
        sent_at: u64,
        came_at: u64,
    ) -> Option<Disagreement> {
        let span = came_at.wrapping_sub(sent_at).cast_signed();
        if span.unsigned_abs() > INCOMPARABLE_NS {
            // Not a clock that is wrong, but one of another epoch.
            return None;
        }
        if let Ok(latency) = u64::try_from(span) {
            self.latency.record(latency);
        }
        self.lowest_ns = self.lowest_ns.min(span);
        let drift = self.follow(settings, now, span);
        let course = settings.course();
        if let Some(ns_per_second) = drift
            && self.drifting.take(now, course).is_some()
        {
            return Some(Disagreement::Drift { ns_per_second });
        }
        let is_negative = span < 0 && self.negative.take(now, course).is_some();
        is_negative.then_some(Disagreement::Negative { lowest_ns: self.lowest_ns })
    }

    /// The times, as far as they are not below zero.
    pub(super) fn summary(&self) -> Option<LatencySummary> {
        self.latency.summary()
    }

    /// The least time so far, below zero where the clocks disagree.
    pub(super) fn lowest_ns(&self) -> i64 {
        self.lowest_ns
    }

    /// Keeps the least time of each second, which waiting hardly touches; tells of a drift when a second is over.
    fn follow(&mut self, settings: &ClockSettings, now: Nanos, span: i64) -> Option<i64> {
        let (began_at, lowest) = self.second.get_or_insert((now, span));
        if now.since(*began_at) < SECOND {
            *lowest = (*lowest).min(span);
            return None;
        }
        let over = std::mem::replace(self.second.as_mut()?, (now, span));
        if self.filled == SECONDS {
            self.seconds.rotate_left(1);
            self.filled -= 1;
        }
        self.seconds[self.filled] = over;
        self.filled += 1;
        (self.filled == SECONDS).then(|| self.drift(settings)).flatten()
    }

    /// The median of the changes from second to second, when nearly all of them have its sign.
    fn drift(&self, settings: &ClockSettings) -> Option<i64> {
        let mut slopes = [0_i64; SECONDS - 1];
        for (slope, pair) in slopes.iter_mut().zip(self.seconds.windows(2)) {
            let elapsed = i128::from(pair[1].0.since(pair[0].0).0.max(1));
            let change = i128::from(pair[1].1 - pair[0].1) * i128::from(SECOND.0) / elapsed;
            *slope = i64::try_from(change).unwrap_or(0);
        }
        slopes.sort_unstable();
        let median = slopes[slopes.len() / 2];
        let agreeing = slopes.iter().filter(|slope| slope.signum() == median.signum()).count();
        let is_drift = median.unsigned_abs() > settings.drift_ns_per_s && agreeing + 1 >= slopes.len();
        is_drift.then_some(median)
    }
}

/// Seconds whose least times are compared.
const SECONDS: usize = 11;
const SECOND: Nanos = Nanos::from_secs(1);
/// Clocks that are further apart do not mean the same time at all: ten seconds.
const INCOMPARABLE_NS: u64 = 10_000_000_000;

#[cfg(test)]
mod tests;
