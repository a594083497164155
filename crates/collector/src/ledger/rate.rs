//! The rate at which a node numbers its reports.

use inband_model::Nanos;

/// The reports per second of one stream, lost ones included.
///
/// The highest of the latest seconds counts; it decays by an eighth with each second that has reports.
#[derive(Debug)]
pub(super) struct ReportRate {
    per_second: u64,
    second_began_at: Nanos,
    in_this_second: u64,
}

impl ReportRate {
    pub(super) fn new(now: Nanos) -> ReportRate {
        ReportRate { per_second: 0, second_began_at: now, in_this_second: 1 }
    }

    /// Counts a report whose number is `steps` after the previous one.
    ///
    /// A step over many numbers may be forged, so it counts little, and one over more than a thousand not at
    /// all.
    pub(super) fn count(&mut self, now: Nanos, steps: u32) {
        let reports = if steps > MAX_STEP { 0 } else { u64::from(steps.min(MAX_COUNTED)) };
        if now.since(self.second_began_at) >= SECOND {
            let faded = self.per_second - self.per_second / 8;
            self.per_second = faded.max(self.in_this_second);
            self.second_began_at = now;
            self.in_this_second = 0;
        }
        self.in_this_second = self.in_this_second.saturating_add(reports);
    }

    /// How many reports the node may have numbered in a span of time, at this rate.
    pub(super) fn expected_in(&self, span: Nanos) -> u64 {
        let rate = self.per_second.max(self.in_this_second);
        // Where the product saturates, the quotient is still beyond every sequence space.
        rate.saturating_mul(span.0) / SECOND.0
    }
}

/// Maximum count of one step.
const MAX_COUNTED: u32 = 64;
/// Longest step that counts.
const MAX_STEP: u32 = 1_024;
const SECOND: Nanos = Nanos::from_secs(1);
