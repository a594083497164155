//! The spikes of a port that are announced as one event.

use inband_model::Nanos;

use crate::book::{Course, Signs};

use super::settings::SpikeSettings;
use super::spike::{Spike, SpikeDetector, Turn};

/// The spikes of a port; those in quick succession are announced as one.
#[derive(Debug)]
pub(super) struct Spikes {
    detector: SpikeDetector,
    run: Run,
}

/// Spikes that are announced as one.
#[derive(Debug, Default)]
struct Run {
    episodes: u64,
    /// The highest latency of the finished spikes, and the number of their samples.
    peak: Nanos,
    count: u64,
    signs: Signs,
}

impl Spikes {
    pub(super) fn new(least_ns: u64) -> Spikes {
        Spikes { detector: SpikeDetector::new(least_ns), run: Run::default() }
    }

    /// Records a latency; returns the spike to announce, with its course. `goes_on` returns whether the event
    /// of the previous spikes is still active.
    #[inline]
    pub(super) fn record(
        &mut self,
        settings: &SpikeSettings,
        now: Nanos,
        latency: Nanos,
        goes_on: impl FnOnce() -> bool,
    ) -> Option<(Spike, Course)> {
        let turn = self.detector.record(latency)?;
        self.run.take(settings, now, turn, goes_on)
    }

    /// The signs of the event of the latest spikes.
    pub(super) fn signs(&mut self) -> &mut Signs {
        &mut self.run.signs
    }
}

impl Run {
    fn take(
        &mut self,
        settings: &SpikeSettings,
        now: Nanos,
        turn: Turn,
        goes_on: impl FnOnce() -> bool,
    ) -> Option<(Spike, Course)> {
        let during = Course::renewed_within(SILENCE);
        match turn {
            Turn::Begins(spike) => {
                if !goes_on() {
                    *self = Self::default();
                }
                self.episodes += 1;
                self.signs.announce(now);
                Some((self.with(spike), during))
            }
            Turn::GoesOn(spike) => self.signs.take(now, during).map(|_| (self.with(spike), during)),
            Turn::Ends(spike) => {
                let all = self.with(spike);
                (self.peak, self.count) = (all.latency, all.count);
                Some((all, Course::renewed_within(settings.quiet())))
            }
        }
    }

    /// All spikes of the run as one, with the latest.
    fn with(&self, latest: Spike) -> Spike {
        Spike {
            latency: latest.latency.max(self.peak),
            count: latest.count.saturating_add(self.count),
            episodes: self.episodes,
            ..latest
        }
    }
}

/// A spike ends when the port is not reported for this long.
const SILENCE: Nanos = Nanos::from_secs(60);
