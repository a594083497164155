//! The bytes of reports that are evidence of events, for history.

use std::collections::{HashSet, VecDeque};

use inband_model::{Event, EventId, Nanos, ReportBytes, ReportReference};

use crate::recent::Recent;

/// Finds the evidence of events among the newest datagrams.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) recent: Recent,
    /// Recently returned evidence, so that a continuing event returns each report once; oldest first.
    given: VecDeque<(EventId, ReportReference)>,
    is_given: HashSet<(EventId, ReportReference)>,
    /// Tokens for further reports, in billionths.
    budget: u64,
    budget_at: Nanos,
    counts: EvidenceCounts,
}

/// Counts of reports that are evidence, by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EvidenceCounts {
    /// Their bytes were passed to history.
    pub kept: u64,
    /// Their bytes were no longer among the newest datagrams.
    pub gone: u64,
    /// They exceeded the rate that history accepts.
    pub shed: u64,
    /// Memory use of the newest datagrams, bytes.
    pub recent_bytes: u64,
}

impl Evidence {
    pub(crate) fn new(recent: Recent) -> Self {
        Self {
            recent,
            given: VecDeque::new(),
            is_given: HashSet::new(),
            budget: MAX_AT_ONCE * SECOND_NS,
            budget_at: Nanos::ZERO,
            counts: EvidenceCounts::default(),
        }
    }

    /// The bytes of an event's evidence that were not returned before; `now` is monotonic.
    pub(crate) fn of(&mut self, now: Nanos, event: &Event) -> Vec<ReportBytes> {
        let id = event.id();
        event.evidence.iter().filter_map(|report| self.take(now, id, *report)).collect()
    }

    fn take(&mut self, now: Nanos, event: EventId, report: ReportReference) -> Option<ReportBytes> {
        if !self.is_given.insert((event, report)) {
            return None;
        }
        self.given.push_back((event, report));
        if self.given.len() > MAX_GIVEN
            && let Some(oldest) = self.given.pop_front()
        {
            self.is_given.remove(&oldest);
        }
        if !self.has_budget(now) {
            self.counts.shed += 1;
            return None;
        }
        let Some((found, name)) = self.recent.find(&report) else {
            self.counts.gone += 1;
            return None;
        };
        self.counts.kept += 1;
        let kept = found.bytes.len().min(ReportBytes::MAX_KEPT);
        Some(ReportBytes {
            event,
            report,
            version: name.version,
            from: found.from,
            to: found.to,
            length: u32::try_from(found.bytes.len()).unwrap_or(u32::MAX),
            bytes: found.bytes[..kept].to_vec(),
        })
    }

    fn has_budget(&mut self, now: Nanos) -> bool {
        let more = now.since(self.budget_at).0.saturating_mul(PER_SECOND);
        self.budget = self.budget.saturating_add(more).min(MAX_AT_ONCE * SECOND_NS);
        self.budget_at = self.budget_at.max(now);
        let left = self.budget.checked_sub(SECOND_NS);
        self.budget = left.unwrap_or(self.budget);
        left.is_some()
    }

    /// The counts so far.
    pub(crate) fn counts(&self) -> EvidenceCounts {
        EvidenceCounts { recent_bytes: self.recent.bytes() as u64, ..self.counts }
    }
}

const SECOND_NS: u64 = 1_000_000_000;
/// Sustained rate of reports per second: some gigabytes a day.
const PER_SECOND: u64 = 64;
/// Maximum burst of reports.
const MAX_AT_ONCE: u64 = 1_024;
/// Maximum number of returned reports that are remembered.
const MAX_GIVEN: usize = 4_096;

#[cfg(test)]
mod tests;
