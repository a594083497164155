//! The bytes of the reports that events rest on, on their way into history.

use std::collections::{HashSet, VecDeque};

use inband_model::{Event, EventId, Nanos, ReportBytes, ReportReference};

use crate::recent::Recent;

/// Takes what events rest on out of the newest datagrams.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) recent: Recent,
    /// What was given out lately, so that an event that goes on gives each report once; oldest first.
    given: VecDeque<(EventId, ReportReference)>,
    is_given: HashSet<(EventId, ReportReference)>,
    /// How many may be given at once, in thousand-millionths.
    budget: u64,
    budget_at: Nanos,
    counts: EvidenceCounts,
}

/// What became of the reports that events rest on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EvidenceCounts {
    /// Their bytes were handed to history.
    pub kept: u64,
    /// Their bytes were not among the newest datagrams any more.
    pub gone: u64,
    /// More came in a second than history takes.
    pub shed: u64,
    /// Bytes of the newest datagrams in memory.
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

    /// The bytes of what an event rests on, as far as they were not given before; `now` neither jumps nor goes back.
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

    /// What became of reports so far.
    pub(crate) fn counts(&self) -> EvidenceCounts {
        EvidenceCounts { recent_bytes: self.recent.bytes() as u64, ..self.counts }
    }
}

const SECOND_NS: u64 = 1_000_000_000;
/// Reports a second that are given on and on: some gigabytes a day.
const PER_SECOND: u64 = 64;
/// Reports that are given at once.
const MAX_AT_ONCE: u64 = 1_024;
/// Reports that are remembered as given.
const MAX_GIVEN: usize = 4_096;

#[cfg(test)]
mod tests;
