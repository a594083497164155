//! What is told of the spikes of a port?

use inband_model::Nanos;

use super::settings::SpikeSettings;
use super::spike::{Spike, SpikeDetector, Turn};
use crate::book::Course;

/// The spikes of a port, of which those that follow each other soon are told as one.
#[derive(Debug)]
pub(super) struct Spikes {
    detector: SpikeDetector,
    run: Run,
}

/// Spikes that are told as one.
#[derive(Debug, Default)]
struct Run {
    episodes: u64,
    /// The highest latency of those that are over, and samples they rest on.
    peak: Nanos,
    count: u64,
    told_at: Nanos,
}

impl Spikes {
    pub(super) fn new() -> Spikes {
        Spikes { detector: SpikeDetector::new(), run: Run::default() }
    }

    /// Takes in a latency; returns what is to be told of a spike, and how that goes on.
    #[inline]
    pub(super) fn record(
        &mut self,
        settings: &SpikeSettings,
        now: Nanos,
        latency: Nanos,
    ) -> Option<(Spike, Course)> {
        let turn = self.detector.record(settings, latency)?;
        self.run.take(settings, now, turn)
    }
}

impl Run {
    fn take(&mut self, settings: &SpikeSettings, now: Nanos, turn: Turn) -> Option<(Spike, Course)> {
        match turn {
            Turn::Begins(spike) => {
                if now.since(self.told_at) > settings.quiet() {
                    *self = Run::default();
                }
                self.episodes += 1;
                self.told_at = now;
                Some((self.with(spike), Course::renewed_within(SILENCE)))
            }
            Turn::GoesOn(_) if now.since(self.told_at) < PAUSE => None,
            Turn::GoesOn(spike) => {
                self.told_at = now;
                Some((self.with(spike), Course::renewed_within(SILENCE)))
            }
            Turn::Ends(spike) => {
                let all = self.with(spike);
                (self.peak, self.count, self.told_at) = (all.latency, all.count, now);
                Some((all, Course::renewed_within(settings.quiet())))
            }
        }
    }

    /// All of them as one, with the latest.
    fn with(&self, latest: Spike) -> Spike {
        Spike {
            latency: latest.latency.max(self.peak),
            count: latest.count.saturating_add(self.count),
            episodes: self.episodes,
            ..latest
        }
    }
}

/// A spike ends when nothing more is reported of the port for so long.
const SILENCE: Nanos = Nanos::from_secs(60);
/// A spike that goes on is told again after so long.
const PAUSE: Nanos = Nanos::from_secs(1);
