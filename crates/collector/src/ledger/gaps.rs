//! The open gaps of a stream.

use std::collections::VecDeque;

use inband_model::Nanos;

use super::space::SequenceSpace;

/// The gaps of one stream that may still be filled, oldest first.
///
/// Gaps that open within a small part of the confirmation time share one entry, which keeps the list short
/// however many there are; such a gap is confirmed up to that much later.
///
/// Gaps of the numbering before a restart may be filled as well, by reports that were on their way.
#[derive(Debug, Default)]
pub(super) struct OpenGaps {
    gaps: VecDeque<Gap>,
}

/// A range of sequence numbers of which some are missing.
#[derive(Debug, Clone, Copy)]
struct Gap {
    first: u32,
    length: u32,
    missing: u32,
    numbering: Numbering,
    first_opened_at: Nanos,
    last_opened_at: Nanos,
}

/// A new range of sequence numbers of which some are missing, all of them in most cases.
#[derive(Debug, Clone, Copy)]
pub(super) struct Missing {
    pub(super) first: u32,
    pub(super) length: u32,
    pub(super) count: u32,
}

/// What a sequence number belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbering {
    /// The numbering that goes on.
    Current,
    /// The numbering before the latest restart.
    Former,
}

impl OpenGaps {
    /// Adds a range of missing numbers; returns how many older ones must be given up to make room for it.
    pub(super) fn open(
        &mut self,
        space: SequenceSpace,
        now: Nanos,
        missing: Missing,
        confirm_after: Nanos,
    ) -> u64 {
        if let Some(gap) = self.gaps.back_mut() {
            let length = space.distance(gap.first, missing.first).saturating_add(missing.length);
            let is_recent = now.since(gap.first_opened_at).0 < confirm_after.0 / SHARES;
            if is_recent && length < space.half() && gap.numbering == Numbering::Current {
                gap.length = length;
                gap.missing = gap.missing.saturating_add(missing.count);
                gap.last_opened_at = now;
                return 0;
            }
        }
        let overflow = if self.gaps.len() >= MAX_GAPS { self.gaps.pop_front() } else { None };
        self.gaps.push_back(Gap {
            first: missing.first,
            length: missing.length,
            missing: missing.count,
            numbering: Numbering::Current,
            first_opened_at: now,
            last_opened_at: now,
        });
        overflow.map_or(0, |gap| u64::from(gap.missing))
    }

    /// Removes a number that arrived late from its gap; false when it is not in an open gap.
    pub(super) fn fill(&mut self, space: SequenceSpace, numbering: Numbering, sequence: u32) -> bool {
        let is_missed_by = |gap: &&mut Gap| {
            gap.missing > 0 && space.distance(gap.first, sequence) < gap.length && gap.numbering == numbering
        };
        let Some(gap) = self.gaps.iter_mut().rev().find(is_missed_by) else { return false };
        gap.missing -= 1;
        while self.gaps.front().is_some_and(|gap| gap.missing == 0) {
            self.gaps.pop_front();
        }
        true
    }

    /// Closes the gaps that have been open for `confirm_after`; returns how many numbers are missing.
    pub(super) fn confirm(&mut self, now: Nanos, confirm_after: Nanos) -> u64 {
        let mut lost = 0;
        while self.due(confirm_after).is_some_and(|due| due <= now) {
            lost += self.gaps.pop_front().map_or(0, |gap| u64::from(gap.missing));
        }
        lost
    }

    /// Closes all gaps; returns how many numbers are missing.
    pub(super) fn confirm_all(&mut self) -> u64 {
        self.gaps.drain(..).map(|gap| u64::from(gap.missing)).sum()
    }

    /// Makes all gaps those of the former numbering; returns how many numbers of the one before that are
    /// missing, whose gaps are closed.
    pub(super) fn leave_numbering(&mut self) -> u64 {
        let mut lost = 0;
        self.gaps.retain_mut(|gap| {
            let is_current = gap.numbering == Numbering::Current;
            if !is_current {
                lost += u64::from(gap.missing);
            }
            gap.numbering = Numbering::Former;
            is_current
        });
        lost
    }

    /// When the oldest gap is confirmed; `None` when no gap is open.
    pub(super) fn due(&self, confirm_after: Nanos) -> Option<Nanos> {
        self.gaps.front().map(|gap| gap.last_opened_at + confirm_after)
    }
}

/// Gaps share an entry when they open within this part of the confirmation time.
const SHARES: u64 = 32;
/// Maximum number of entries in the list. Only restarts and ranges of half the sequence space can make it
/// longer than `SHARES`.
const MAX_GAPS: usize = 64;
