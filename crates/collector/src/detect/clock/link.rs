//! The latency of one link, by the clocks at its ends.

use inband_model::Nanos;
use inband_model::api::LatencySummary;

use crate::book::Signs;
use crate::sketch::Sketch;

use super::settings::ClockSettings;

/// The times that packets take over one link, by the clocks at its ends.
#[derive(Debug)]
pub(super) struct LinkClock {
    latency: Sketch,
    /// The lowest time so far, below zero where the clocks disagree.
    lowest_ns: i64,
    /// The lowest times of the latest seconds, each with when it was seen; the first `filled` are valid.
    seconds: [(Nanos, i64); SECONDS],
    filled: usize,
    /// The current second: when it began, and its lowest time.
    second: Option<(Nanos, i64)>,
    negative: Signs,
    drifting: Signs,
}

/// What the timestamps of a packet show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disagreement {
    /// It arrived before it was sent.
    Negative {
        /// The lowest time so far.
        lowest_ns: i64,
    },
    /// The clock at the end of the link gains this much per second.
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

    /// Records when a packet was sent and when it arrived, by the clocks of both ends; returns a disagreement
    /// that is to be announced, with the number of its signs since the last announcement.
    pub(super) fn record(
        &mut self,
        settings: &ClockSettings,
        now: Nanos,
        sent_at: u64,
        came_at: u64,
    ) -> Option<(Disagreement, u64)> {
        let span = came_at.wrapping_sub(sent_at).cast_signed();
        if span.unsigned_abs() > INCOMPARABLE_NS {
            // A clock of another epoch, not a wrong one.
            return None;
        }
        if let Ok(latency) = u64::try_from(span) {
            self.latency.record(latency);
        }
        self.lowest_ns = self.lowest_ns.min(span);
        let drift = self.follow(settings, now, span);
        let course = settings.course();
        if let Some(ns_per_second) = drift
            && let Some(count) = self.drifting.take(now, course)
        {
            return Some((Disagreement::Drift { ns_per_second }, count));
        }
        if span >= 0 {
            return None;
        }
        let count = self.negative.take(now, course)?;
        Some((Disagreement::Negative { lowest_ns: self.lowest_ns }, count))
    }

    /// The signs of a disagreement.
    pub(super) fn signs(&mut self, found: Disagreement) -> &mut Signs {
        match found {
            Disagreement::Negative { .. } => &mut self.negative,
            Disagreement::Drift { .. } => &mut self.drifting,
        }
    }

    /// The times that are not below zero.
    pub(super) fn summary(&self) -> Option<LatencySummary> {
        self.latency.summary()
    }

    /// When a packet was last seen on the link, to a second.
    pub(super) fn heard_at(&self) -> Nanos {
        self.second.map_or(Nanos::ZERO, |(began_at, _)| began_at)
    }

    /// The lowest time so far, below zero where the clocks disagree.
    pub(super) fn lowest_ns(&self) -> i64 {
        self.lowest_ns
    }

    /// Keeps the lowest time of each second, which queueing hardly affects; returns a drift when a second is
    /// over.
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

    /// The median of the changes from second to second, when nearly all of them share its sign.
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

/// Number of seconds whose lowest times are compared.
const SECONDS: usize = 11;
const SECOND: Nanos = Nanos::from_secs(1);
/// Clocks that are further apart do not use the same epoch: ten seconds.
const INCOMPARABLE_NS: u64 = 10_000_000_000;

#[cfg(test)]
mod tests;
