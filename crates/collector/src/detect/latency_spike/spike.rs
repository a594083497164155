//! Detection of latencies much above the usual ones.

use inband_model::Nanos;

/// The latest latencies of a port, and the outliers among them.
#[derive(Debug)]
pub(super) struct SpikeDetector {
    /// Nanoseconds; longer than four seconds counts as four seconds.
    samples: Box<[u32; SAMPLES]>,
    /// Nanoseconds above the median below which nothing is a spike.
    least_ns: u64,
    filled: usize,
    next: usize,
    usual: Option<Usual>,
    samples_since_usual: usize,
    /// Whether each of the latest samples was an outlier, latest in the lowest bit.
    stood_out: u8,
    peak: u32,
    /// Number of outliers of the spike.
    count: u64,
    is_on: bool,
}

/// The usual latencies.
#[derive(Debug, Clone, Copy)]
struct Usual {
    median: u32,
    median_deviation: u32,
}

/// A spike, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spike {
    pub(super) latency: Nanos,
    pub(super) median: Nanos,
    pub(super) median_deviation: Nanos,
    /// Number of outliers.
    pub(super) count: u64,
    /// Number of spikes announced as this one.
    pub(super) episodes: u64,
}

/// What the next latency shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// A spike begins.
    Begins(Spike),
    /// Another latency of a spike that has begun.
    GoesOn(Spike),
    /// The spike is over.
    Ends(Spike),
}

impl SpikeDetector {
    /// A detector for which nothing below `least_ns` above the median is a spike.
    pub(super) fn new(least_ns: u64) -> SpikeDetector {
        SpikeDetector {
            samples: Box::new([0; SAMPLES]),
            least_ns,
            filled: 0,
            next: 0,
            usual: None,
            samples_since_usual: 0,
            stood_out: 0,
            peak: 0,
            count: 0,
            is_on: false,
        }
    }

    /// Records a latency; returns a turn when a spike begins, continues or ends.
    #[inline]
    pub(super) fn record(&mut self, latency: Nanos) -> Option<Turn> {
        let latency = u32::try_from(latency.0).unwrap_or(u32::MAX);
        let spike = if self.filled < MIN_SAMPLES { None } else { self.judge(latency) };
        self.samples[self.next] = latency;
        self.next = (self.next + 1) % SAMPLES;
        self.filled = (self.filled + 1).min(SAMPLES);
        self.samples_since_usual += 1;
        spike
    }

    #[inline]
    fn judge(&mut self, latency: u32) -> Option<Turn> {
        let usual = self.usual(latency);
        let stands_out = usual.is_exceeded(self.least_ns, latency);
        self.stood_out = (self.stood_out << 1 | u8::from(stands_out)) & LATEST;
        if self.stood_out == 0 {
            let peak = std::mem::take(&mut self.peak);
            let was_on = std::mem::take(&mut self.is_on);
            let count = std::mem::take(&mut self.count);
            return was_on.then(|| Turn::Ends(usual.spike(peak, count)));
        }
        if stands_out {
            self.peak = self.peak.max(latency);
            self.count += 1;
        }
        if self.is_on {
            return stands_out.then(|| Turn::GoesOn(usual.spike(self.peak, self.count)));
        }
        if self.stood_out.count_ones() < OUT_OF_LATEST {
            return None;
        }
        self.is_on = true;
        self.count = u64::from(self.stood_out.count_ones());
        Some(Turn::Begins(usual.spike(self.peak, self.count)))
    }

    /// The usual latencies: recomputed from time to time, and sooner for an apparent outlier.
    #[inline]
    fn usual(&mut self, latency: u32) -> Usual {
        if let Some(usual) = self.usual {
            let seems_to_stand_out = u64::from(latency) >= u64::from(usual.median) + self.least_ns;
            let renew_after = if seems_to_stand_out { RENEW_AFTER } else { SAMPLES };
            if self.samples_since_usual < renew_after {
                return usual;
            }
        }
        let usual = Usual::of(&self.samples[..self.filled]);
        self.usual = Some(usual);
        self.samples_since_usual = 0;
        usual
    }
}

impl Usual {
    fn spike(self, peak: u32, count: u64) -> Spike {
        Spike {
            latency: Nanos(u64::from(peak)),
            median: Nanos(u64::from(self.median)),
            median_deviation: Nanos(u64::from(self.median_deviation)),
            count,
            episodes: 1,
        }
    }

    fn of(samples: &[u32]) -> Usual {
        let mut sorted = [0; SAMPLES];
        let sorted = &mut sorted[..samples.len()];
        sorted.copy_from_slice(samples);
        let middle = sorted.len() / 2;
        let median = *sorted.select_nth_unstable(middle).1;
        for sample in sorted.iter_mut() {
            *sample = sample.abs_diff(median);
        }
        Usual { median, median_deviation: *sorted.select_nth_unstable(middle).1 }
    }

    /// Whether a latency is above the median by 6 standard deviations, estimated as 1.4826 times the median
    /// deviation each, and by the least that matters.
    fn is_exceeded(self, least_ns: u64, latency: u32) -> bool {
        let above = u64::from(latency.saturating_sub(self.median));
        let usual = u64::from(self.median_deviation) * SIX_DEVIATIONS.0 / SIX_DEVIATIONS.1;
        above > usual && above >= least_ns
    }
}

/// Number of samples that define the usual latencies.
const SAMPLES: usize = 512;
/// Minimum number of samples.
const MIN_SAMPLES: usize = 64;
/// Minimum number of new samples before an apparent outlier causes a recomputation.
const RENEW_AFTER: usize = 64;
/// The latest samples, of which [`OUT_OF_LATEST`] must be outliers.
const LATEST: u8 = 0b1_1111;
/// Number of outliers among the latest samples that begin a spike.
const OUT_OF_LATEST: u32 = 3;
/// 6 times 1.4826, as a fraction.
const SIX_DEVIATIONS: (u64, u64) = (88_956, 10_000);

#[cfg(test)]
mod tests;
