//! Sequence numbers of one stream: gaps, duplicates, reordering and restarts.

use inband_model::Nanos;

use super::credit::SkipCredit;
use super::gaps::{Missing, OpenGaps};
use super::rate::ReportRate;
use super::settings::LedgerSettings;
use super::space::SequenceSpace;
use super::window::ReorderWindow;

/// The sequence numbers of one stream so far.
#[derive(Debug)]
pub struct Sequence {
    space: SequenceSpace,
    expected: u32,
    /// Numbers behind `expected` that belong to this run of the node, as far as the window covers.
    known_behind: u32,
    window: ReorderWindow,
    gaps: OpenGaps,
    rate: ReportRate,
    credit: SkipCredit,
    last_at: Nanos,
    /// When a number beyond all previous ones last arrived.
    advanced_at: Nanos,
    /// When such a number below `reset_below` last arrived.
    small_at: Nanos,
    late_run: Run,
    repeated_run: Run,
    lost: u64,
    lost_unknown: u64,
}

/// Reports in unbroken sequence that are all behind the expected number.
#[derive(Debug, Default)]
struct Run {
    next: u32,
    length: u32,
}

/// The classification of one sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Arrival {
    /// The expected number, or the first of the stream.
    InOrder,
    /// A later number: this many before it are missing.
    Gap(u32),
    /// A missing number, inside the reorder window.
    Reordered,
    /// A number that has arrived before.
    Duplicate,
    /// A number behind the reorder window: it is unknown whether it has arrived before.
    Late,
    /// The first number after the node restarted its numbering; the value is the number that was expected.
    Reset(u32),
    /// The first number after a silence in which the numbers may have wrapped around.
    LossUnknown,
}

impl Sequence {
    /// Starts a stream with its first report.
    #[must_use]
    pub fn new(space: SequenceSpace, settings: &LedgerSettings, now: Nanos, first: u32) -> Sequence {
        let largest_window = (space.half() / 2).min(MAX_WINDOW);
        let window = settings.reorder_window.clamp(u64::BITS, largest_window).next_power_of_two();
        let mut sequence = Sequence {
            space,
            expected: 0,
            known_behind: 0,
            window: ReorderWindow::new(window),
            gaps: OpenGaps::default(),
            rate: ReportRate::new(now),
            credit: SkipCredit::new(settings, now),
            last_at: now,
            advanced_at: now,
            small_at: now,
            late_run: Run::default(),
            repeated_run: Run::default(),
            lost: 0,
            lost_unknown: 0,
        };
        sequence.start_at(space.wrap(first));
        sequence
    }

    /// Classifies the next sequence number to arrive.
    pub fn arrive(&mut self, settings: &LedgerSettings, now: Nanos, number: u32) -> Arrival {
        let number = self.space.wrap(number);
        let silence = now.since(self.last_at);
        self.last_at = self.last_at.max(now);
        self.confirm(settings, now);

        let arrival = self.classify(settings, now, silence, number);
        if arrival != Arrival::Late {
            self.late_run = Run::default();
        }
        if !matches!(arrival, Arrival::Duplicate | Arrival::Reordered | Arrival::Late) {
            self.advanced_at = self.advanced_at.max(now);
            if number < settings.reset_below {
                self.small_at = self.advanced_at;
            }
        }
        arrival
    }

    /// Counts the gaps that have been open long enough as lost.
    pub fn confirm(&mut self, settings: &LedgerSettings, now: Nanos) {
        self.lost += self.gaps.confirm(now, settings.confirm_after());
    }

    /// Counts all open gaps as lost: nothing more is expected to arrive.
    pub fn give_up(&mut self) {
        self.lost += self.gaps.confirm_all();
    }

    /// When the next gap is confirmed; `None` when none is open.
    #[must_use]
    pub fn next_confirmation(&self, settings: &LedgerSettings) -> Option<Nanos> {
        self.gaps.due(settings.confirm_after())
    }

    /// Reports that are confirmed lost.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Times at which an unknown number of reports was lost.
    #[must_use]
    pub fn lost_unknown(&self) -> u64 {
        self.lost_unknown
    }

    /// When the last report arrived.
    pub(super) fn last_at(&self) -> Nanos {
        self.last_at
    }

    fn classify(&mut self, settings: &LedgerSettings, now: Nanos, silence: Nanos, number: u32) -> Arrival {
        let may_have_sent = self.rate.expected_in(silence);
        if may_have_sent >= self.space.size() {
            return self.lose_count(now, number);
        }
        let ahead = self.space.distance(self.expected, number);
        if ahead == 0 {
            self.advance(now, 1);
            self.window.mark(number);
            return Arrival::InOrder;
        }
        let is_ahead = ahead < self.space.half();
        // A step past zero may be a loss before the numbers wrap: only a small one is taken for that.
        let wraps_soon = is_ahead && (number >= ahead || ahead <= self.window.size());
        if silence > settings.reset_silence() && number < settings.reset_below && !wraps_soon {
            return self.reset(number);
        }
        if is_ahead {
            return self.step_forward(settings, now, silence, ahead);
        }
        let behind = self.space.distance(number, self.expected);
        if behind <= self.window.size() {
            return self.look_back(settings, now, number, behind);
        }
        if may_have_sent >= u64::from(self.space.half()) {
            // Enough reports may have been sent that a number this far ahead appears to be behind.
            return self.lose_count(now, number);
        }
        self.be_late(settings, number)
    }

    fn step_forward(&mut self, settings: &LedgerSettings, now: Nanos, silence: Nanos, ahead: u32) -> Arrival {
        let number = self.space.forward(self.expected, ahead);
        if !self.credit.explains(settings, &self.rate, now, silence, ahead) {
            return self.reset(number);
        }
        let missing = Missing { first: self.expected, count: ahead };
        self.lost += self.gaps.open(self.space, now, missing, settings.confirm_after());
        self.advance(now, ahead + 1);
        self.window.mark(number);
        Arrival::Gap(ahead)
    }

    fn look_back(&mut self, settings: &LedgerSettings, now: Nanos, number: u32, behind: u32) -> Arrival {
        let is_known = behind <= self.known_behind;
        let has_arrived = self.window.mark(number);
        if is_known && !has_arrived {
            self.repeated_run = Run::default();
            if !self.gaps.fill(self.space, number) {
                // Its gap was already confirmed, so it is counted as lost.
                self.lost = self.lost.saturating_sub(1);
            }
            return Arrival::Reordered;
        }
        if self.begins_again(settings, now, number) {
            return self.reset(number);
        }
        if has_arrived { Arrival::Duplicate } else { Arrival::Reordered }
    }

    /// Distinguishes a copy of a report, or a report from before the first one of the stream, from the
    /// reports of a node that restarted soon after it began, so that none of its numbers is ahead or missing.
    ///
    /// A copy is at most `confirm_after` later than its original. So a run of numbers that begins with a
    /// small one is a restart when that number first arrived longer ago, or when the run lasts longer without
    /// a new number.
    fn begins_again(&mut self, settings: &LedgerSettings, now: Nanos, number: u32) -> bool {
        let Run { next, length } = self.repeated_run;
        let goes_on = length > 0 && self.space.distance(next, number) < RUN_SLACK;
        let length =
            if goes_on { length.saturating_add(1) } else { u32::from(number < settings.reset_below) };
        let original_at = if number < settings.reset_below { self.small_at } else { self.advanced_at };
        let is_old = now.since(original_at) >= settings.confirm_after();
        self.repeated_run = Run { next: self.space.forward(number, 1), length };
        length > 0 && length >= settings.reset_run && is_old
    }

    fn be_late(&mut self, settings: &LedgerSettings, number: u32) -> Arrival {
        self.repeated_run = Run::default();
        let length = if number == self.late_run.next { self.late_run.length + 1 } else { 1 };
        if length >= settings.reset_run {
            return self.reset(number);
        }
        self.late_run = Run { next: self.space.forward(number, 1), length };
        Arrival::Late
    }

    fn reset(&mut self, number: u32) -> Arrival {
        let expected = self.expected;
        self.give_up();
        self.start_at(number);
        Arrival::Reset(expected)
    }

    fn lose_count(&mut self, now: Nanos, number: u32) -> Arrival {
        self.give_up();
        self.lost_unknown += 1;
        self.start_at(number);
        self.rate.count(now, 1);
        Arrival::LossUnknown
    }

    fn start_at(&mut self, number: u32) {
        self.window.clear();
        self.window.mark(number);
        self.expected = self.space.forward(number, 1);
        self.known_behind = 1;
        self.repeated_run = Run::default();
    }

    /// Advances `expected` by `steps` numbers, none of which has arrived yet.
    fn advance(&mut self, now: Nanos, steps: u32) {
        self.repeated_run = Run::default();
        self.window.slide(self.expected, steps);
        self.expected = self.space.forward(self.expected, steps);
        self.known_behind = self.known_behind.saturating_add(steps).min(self.window.size());
        self.rate.count(now, steps);
    }
}

/// Maximum number of lost reports between two of a run of repeated ones.
const RUN_SLACK: u32 = 16;
/// Largest reorder window: 8 KiB of bitmap.
const MAX_WINDOW: u32 = 65_536;

#[cfg(test)]
mod tests;
