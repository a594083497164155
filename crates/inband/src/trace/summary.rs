//! What all probes together show.

use super::outcome::Outcome;
use super::stack::Ended;

/// Counts of probes, in the order in which they were sent.
#[derive(Default)]
pub(super) struct Summary {
    pub(super) sent: u64,
    pub(super) lost: u64,
    /// Node ids of each path, at most [`MAX_PATHS`].
    pub(super) paths: Vec<Vec<u32>>,
    /// The time of the latest probe from the first to the last hop, nanoseconds.
    latest_total: Option<u64>,
    /// The sum of the differences between consecutive probes in that time, nanoseconds, and their number.
    differences: (u64, u64),
}

impl Summary {
    /// The summary of several probes.
    pub(super) fn of(results: &[Outcome]) -> Self {
        let mut summary = Self::default();
        results.iter().for_each(|result| summary.add(result));
        summary
    }

    /// Adds the next probe.
    pub(super) fn add(&mut self, result: &Outcome) {
        self.sent += 1;
        if result.seen.ended == Ended::Lost {
            // The hops before a loss are no path, and their time is not that of one.
            self.lost += 1;
            return;
        }
        let path: Vec<u32> = result.seen.hops.iter().map(|hop| hop.node_id).collect();
        if !path.is_empty() && self.paths.len() < MAX_PATHS && !self.paths.contains(&path) {
            self.paths.push(path);
        }
        let Some(total) = result.seen.total() else { return };
        if let Some(before) = self.latest_total.replace(total) {
            let (sum, count) = self.differences;
            self.differences = (sum.saturating_add(total.abs_diff(before)), count + 1);
        }
    }

    /// The mean difference of latency between consecutive probes, nanoseconds; `None` with fewer than two.
    pub(super) fn jitter(&self) -> Option<u64> {
        let (sum, count) = self.differences;
        sum.checked_div(count)
    }
}

/// Maximum number of paths that are listed.
const MAX_PATHS: usize = 1000;

#[cfg(test)]
mod tests;
