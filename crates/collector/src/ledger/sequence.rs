//! Sequence numbers of one stream: gaps, duplicates, reordering and restarts.

use inband_model::Nanos;

use super::credit::{self, SkipCredit};
use super::former::FormerNumbering;
use super::gaps::{Missing, Numbering, OpenGaps};
use super::rate::ReportRate;
use super::run::{Candidate, Membership, OtherRun};
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
    other_run: OtherRun,
    former: FormerNumbering,
    lost: u64,
    lost_unknown: u64,
}

/// The classification of one sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Arrival {
    /// The expected number, or the first of the stream.
    InOrder,
    /// A later number: this many before it are missing.
    Gap(u32),
    /// A missing number, inside the reorder window or in an open gap.
    Reordered,
    /// A number that has arrived before.
    Duplicate,
    /// A number behind the reorder window, or of the time before a restart: it is unknown whether it has
    /// arrived before.
    Late,
    /// The number that shows that the node restarted its numbering; the value is the one that was expected.
    Reset(u32),
    /// The first number after a silence in which the numbers may have wrapped around.
    LossUnknown,
}

impl Sequence {
    /// Starts a stream with its first report.
    #[must_use]
    pub fn new(space: SequenceSpace, settings: &LedgerSettings, now: Nanos, first: u32) -> Sequence {
        let window = settings.reorder_window.clamp(u64::BITS, largest_window(space)).next_power_of_two();
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
            other_run: OtherRun::default(),
            former: FormerNumbering::none(),
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
            return self.reset(settings, now, number);
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
        self.be_late(settings, now, number, behind)
    }

    fn step_forward(&mut self, settings: &LedgerSettings, now: Nanos, silence: Nanos, ahead: u32) -> Arrival {
        let number = self.space.forward(self.expected, ahead);
        if self.former.claims(self.space, now, number, ahead) {
            return self.take_former(settings, now, number);
        }
        if !self.credit.explains(settings, &self.rate, now, silence, ahead) {
            return self.reset(settings, now, number);
        }
        let missing = Missing { first: self.expected, length: ahead, count: ahead };
        self.lost += self.gaps.open(self.space, now, missing, settings.confirm_after());
        self.advance(now, ahead + 1);
        self.window.mark(number);
        Arrival::Gap(ahead)
    }

    fn look_back(&mut self, settings: &LedgerSettings, now: Nanos, number: u32, behind: u32) -> Arrival {
        let is_known = behind <= self.known_behind;
        if self.window.mark(number) {
            return self.doubt(settings, now, number, behind, Arrival::Duplicate);
        }
        let is_filled = self.gaps.fill(self.space, Numbering::Current, number);
        if is_known && !is_filled && self.lost > 0 {
            // Its gap was already confirmed, so it is counted as lost.
            self.lost -= 1;
            self.other_run.take_back(self.space, now, settings.confirm_after(), number);
        }
        if is_known || is_filled {
            return Arrival::Reordered;
        }
        self.doubt(settings, now, number, behind, Arrival::Reordered)
    }

    /// Takes a number behind the reorder window.
    #[cold]
    fn be_late(&mut self, settings: &LedgerSettings, now: Nanos, number: u32, behind: u32) -> Arrival {
        if behind <= self.reach(settings) {
            // Reports may be that late, so those that follow have to be tracked one by one.
            let size = behind.saturating_add(behind / 2).next_power_of_two();
            self.window.grow(size.min(largest_window(self.space)), self.expected);
            if behind <= self.window.size() {
                self.window.mark(number);
            }
        }
        if self.gaps.fill(self.space, Numbering::Current, number) {
            return Arrival::Reordered;
        }
        self.doubt(settings, now, number, behind, Arrival::Late)
    }

    /// Distinguishes a number that fills no gap of the stream, and otherwise is of this `arrival`, from those
    /// of a node that restarted.
    ///
    /// A report, or a copy of one, is at most `confirm_after` late. So a run of such numbers, of which none
    /// advances the stream, is a restart when their originals arrived longer ago: the small ones with which a
    /// node begins, or all; or when they are farther behind than reports can be late.
    #[cold]
    fn doubt(
        &mut self,
        settings: &LedgerSettings,
        now: Nanos,
        number: u32,
        behind: u32,
        arrival: Arrival,
    ) -> Arrival {
        let is_accepted = arrival != Arrival::Duplicate;
        if is_accepted && self.former.claims(self.space, now, number, behind) {
            return self.take_former(settings, now, number);
        }
        let is_small = number < settings.reset_below;
        let original_at = if is_small { self.small_at } else { self.advanced_at };
        let is_old = now.since(original_at) >= settings.confirm_after()
            || u64::from(behind) > credit::most_in(settings, &self.rate, settings.confirm_after());
        // A small one that is near to the stream's own numbering is a copy, as long as it may be.
        let is_near = behind <= self.reach(settings) && !is_old;
        let may_begin = is_small && !is_near || arrival == Arrival::Late;
        let candidate = Candidate { number, behind, may_begin, is_old, is_accepted };
        match self.other_run.add(self.space, now, settings.confirm_after(), candidate) {
            Membership::Again => Arrival::Duplicate,
            Membership::New if is_old && self.other_run.votes() >= settings.reset_run => {
                self.restart(settings, now, number)
            }
            Membership::New | Membership::Apart => arrival,
        }
    }

    /// Takes a number from before the restart: it changes nothing, unless that numbering goes on and the one
    /// after the restart, of which few numbers have arrived, does not.
    #[cold]
    fn take_former(&mut self, settings: &LedgerSettings, now: Nanos, number: u32) -> Arrival {
        if !self.former.advance(self.space, number) {
            let is_filled = self.gaps.fill(self.space, Numbering::Former, number);
            return if is_filled { Arrival::Reordered } else { Arrival::Late };
        }
        if self.known_behind >= settings.reset_run {
            return Arrival::Late;
        }
        let behind = u32::MAX;
        let candidate = Candidate { number, behind, may_begin: true, is_old: false, is_accepted: true };
        let membership = self.other_run.add(self.space, now, settings.confirm_after(), candidate);
        if membership == Membership::New && self.other_run.votes() >= settings.reset_run {
            return self.restart(settings, now, number);
        }
        Arrival::Late
    }

    /// Continues with the other run, which ends with `number`.
    fn restart(&mut self, settings: &LedgerSettings, now: Nanos, number: u32) -> Arrival {
        let expected = self.leave_numbering(settings, now);
        self.start_at(number);
        if let Some(run) = self.other_run.adopt(self.space, &mut self.window) {
            self.expected = run.expected;
            // Numbers that were refused as duplicates are neither missing nor known.
            self.known_behind = if run.is_accepted { run.tracked } else { 0 };
            self.lost += u64::from(run.taken_back);
            if run.missing > 0 {
                let length = self.space.distance(run.lowest, run.expected);
                let missing = Missing { first: run.lowest, length, count: run.missing };
                self.lost += self.gaps.open(self.space, now, missing, settings.confirm_after());
            }
            if run.lowest < settings.reset_below {
                self.small_at = self.small_at.max(now);
            }
        }
        Arrival::Reset(expected)
    }

    fn reset(&mut self, settings: &LedgerSettings, now: Nanos, number: u32) -> Arrival {
        let expected = self.leave_numbering(settings, now);
        self.other_run.forget();
        self.start_at(number);
        Arrival::Reset(expected)
    }

    /// Leaves the numbering before a restart; returns the number it would go on with.
    fn leave_numbering(&mut self, settings: &LedgerSettings, now: Nanos) -> u32 {
        let until = self.advanced_at + settings.confirm_after();
        self.former = FormerNumbering::new(self.expected, self.reach(settings), until);
        if self.former.is_open(now) {
            self.lost += self.gaps.leave_numbering();
        } else {
            self.give_up();
        }
        self.expected
    }

    /// Numbers that reports may be late by: twice those of `confirm_after`.
    fn reach(&self, settings: &LedgerSettings) -> u32 {
        let sent = self.rate.expected_in(settings.confirm_after()).saturating_mul(2);
        let reach = sent.saturating_add(u64::from(MIN_REACH)).min(u64::from(self.space.half() / 2));
        u32::try_from(reach).unwrap_or(u32::MAX)
    }

    fn lose_count(&mut self, now: Nanos, number: u32) -> Arrival {
        self.give_up();
        self.lost_unknown += 1;
        self.other_run.forget();
        self.former = FormerNumbering::none();
        self.start_at(number);
        self.rate.count(now, 1);
        Arrival::LossUnknown
    }

    fn start_at(&mut self, number: u32) {
        self.window.clear();
        self.window.mark(number);
        self.expected = self.space.forward(number, 1);
        self.known_behind = 1;
    }

    /// Advances `expected` by `steps` numbers, none of which has arrived yet.
    fn advance(&mut self, now: Nanos, steps: u32) {
        self.other_run.contradict();
        self.window.slide(self.expected, steps);
        self.expected = self.space.forward(self.expected, steps);
        self.known_behind = self.known_behind.saturating_add(steps).min(self.window.size());
        self.rate.count(now, steps);
    }
}

/// The largest reorder window of a space.
fn largest_window(space: SequenceSpace) -> u32 {
    (space.half() / 2).min(MAX_WINDOW)
}

/// Numbers that reports may be late by at any rate.
const MIN_REACH: u32 = 64;
/// Largest reorder window: 8 KiB of bitmap.
const MAX_WINDOW: u32 = 65_536;

#[cfg(test)]
mod tests;
