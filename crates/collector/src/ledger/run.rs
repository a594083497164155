//! A run of sequence numbers beside those of a stream: a node that restarted, or reports that are late.

use inband_model::Nanos;

use super::space::SequenceSpace;
use super::window::ReorderWindow;

/// The latest numbers that do not continue the stream's own numbering, as far as they are one run.
///
/// Reports of a restarted node overtake each other and are lost like all others, so the run is not unbroken.
#[derive(Debug, Default)]
pub(super) struct OtherRun {
    /// Different numbers that arrived since the stream's own numbering last advanced.
    votes: u32,
    /// Allocated once.
    numbers: Option<Box<Numbers>>,
}

/// The numbers of a run.
#[derive(Debug)]
struct Numbers {
    lowest: u32,
    expected: u32,
    /// Different numbers that arrived.
    length: u32,
    latest_at: Nanos,
    /// Whether the run goes on when the stream's own numbering advances: by reports from before a restart.
    is_lasting: bool,
    /// Numbers just behind `expected` that arrived.
    arrived: ReorderWindow,
    /// Those of them that were accepted.
    accepted: ReorderWindow,
    /// Different numbers that were not accepted, as they look like duplicates.
    refused: u32,
    /// Losses of the stream that were taken back, because they have numbers of this run.
    taken_back: u32,
    /// Numbers apart from the run, since the latest one of it, with which another may begin.
    misfits: u32,
}

/// A number beside those of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) number: u32,
    /// How far it is behind the number that the stream's own numbering expects; the largest value if it is no
    /// number of that.
    pub(super) behind: u32,
    /// Whether a run may begin with it.
    pub(super) may_begin: bool,
    /// Whether its original, if there is one, arrived too long ago for this one to be a copy.
    pub(super) is_old: bool,
    /// Whether it is accepted, in contrast to a duplicate.
    pub(super) is_accepted: bool,
}

/// The relation of a number to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Membership {
    /// It belongs to the run and has not arrived before.
    New,
    /// It has arrived, and was accepted, as part of the run.
    Again,
    /// It does not belong to the run, or it is unknown whether it has arrived.
    Apart,
}

/// The numbers of a run that has become the numbering of the stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Adopted {
    pub(super) lowest: u32,
    pub(super) expected: u32,
    /// Numbers behind `expected` of which it is known whether they arrived.
    pub(super) tracked: u32,
    /// Numbers from the lowest one on that have not arrived.
    pub(super) missing: u32,
    /// Whether all that arrived were accepted.
    pub(super) is_accepted: bool,
    pub(super) taken_back: u32,
}

impl OtherRun {
    /// Takes note that the stream's own numbering advances.
    pub(super) fn contradict(&mut self) {
        self.votes = 0;
    }

    /// Forgets the run.
    pub(super) fn forget(&mut self) {
        self.votes = 0;
        if let Some(run) = &mut self.numbers {
            run.length = 0;
        }
    }

    /// Different numbers that arrived since the stream's own numbering last advanced.
    pub(super) fn votes(&self) -> u32 {
        self.votes
    }

    /// Adds a number to the run, or begins one with it. `keep` is how late a report or a copy may be.
    pub(super) fn add(
        &mut self,
        space: SequenceSpace,
        now: Nanos,
        keep: Nanos,
        candidate: Candidate,
    ) -> Membership {
        let votes = self.votes;
        let goes_on = |run: &&mut Box<Numbers>| {
            votes > 0 || run.length > 0 && run.is_lasting && now.since(run.latest_at) < keep
        };
        let Some(run) = self.numbers.as_mut().filter(goes_on) else {
            if candidate.may_begin {
                self.begin(space, now, candidate);
                return Membership::New;
            }
            return Membership::Apart;
        };
        let membership = run.add(space, candidate);
        if membership == Membership::New {
            run.latest_at = now;
            self.votes = self.votes.saturating_add(1);
            return membership;
        }
        // After a pause it is no copy, so the node restarted again.
        let is_copy = now.since(run.latest_at) < keep;
        if run.misfits > MAX_MISFITS || candidate.may_begin && run.has(space, candidate.number) && !is_copy {
            self.begin(space, now, candidate);
            return Membership::New;
        }
        membership
    }

    /// Adds a number that was taken for a lost one of the stream, if there is a run that it belongs to.
    pub(super) fn take_back(&mut self, space: SequenceSpace, now: Nanos, keep: Nanos, number: u32) {
        let behind = u32::MAX;
        let candidate = Candidate { number, behind, may_begin: false, is_old: false, is_accepted: true };
        if self.add(space, now, keep, candidate) == Membership::New
            && let Some(run) = &mut self.numbers
        {
            run.taken_back = run.taken_back.saturating_add(1);
        }
    }

    /// Ends the run, and marks in `window` those of its numbers that were accepted; `None` without a run.
    pub(super) fn adopt(&mut self, space: SequenceSpace, window: &mut ReorderWindow) -> Option<Adopted> {
        self.votes = 0;
        let run = self.numbers.as_mut().filter(|run| run.length > 0)?;
        let length = std::mem::take(&mut run.length);
        let extent = space.distance(run.lowest, run.expected);
        let tracked = extent.min(run.arrived.size()).min(window.size());
        for number in (1..=tracked).map(|back| run.expected.wrapping_sub(back)) {
            if run.accepted.contains(number) {
                window.mark(number);
            }
        }
        Some(Adopted {
            lowest: run.lowest,
            expected: run.expected,
            tracked,
            missing: extent.saturating_sub(length),
            is_accepted: run.refused == 0,
            taken_back: run.taken_back,
        })
    }

    fn begin(&mut self, space: SequenceSpace, now: Nanos, candidate: Candidate) {
        let run = self.numbers.get_or_insert_with(|| Box::new(Numbers::new(space)));
        run.begin(space, now, candidate);
        self.votes = 1;
    }
}

impl Numbers {
    fn new(space: SequenceSpace) -> Self {
        let size = MAX_TRACKED.min(space.half() / 2);
        let (arrived, accepted) = (ReorderWindow::new(size), ReorderWindow::new(size));
        Self {
            lowest: 0,
            expected: 0,
            length: 0,
            latest_at: Nanos::ZERO,
            is_lasting: false,
            arrived,
            accepted,
            refused: 0,
            taken_back: 0,
            misfits: 0,
        }
    }

    fn begin(&mut self, space: SequenceSpace, now: Nanos, candidate: Candidate) {
        self.lowest = candidate.number;
        self.expected = space.forward(candidate.number, 1);
        self.arrived.clear();
        self.accepted.clear();
        (self.length, self.refused, self.taken_back) = (0, 0, 0);
        (self.latest_at, self.is_lasting) = (now, candidate.is_old);
        self.mark(candidate);
    }

    fn add(&mut self, space: SequenceSpace, candidate: Candidate) -> Membership {
        let number = candidate.number;
        let ahead = space.distance(self.expected, number);
        if ahead >= space.half() {
            return self.look_back(space, candidate);
        }
        // A copy of a report from before the restart is also ahead of the run, but no run begins with it.
        let longest = if candidate.may_begin { self.arrived.size() } else { LONGEST_STEP };
        // One that is nearer to the stream's own numbering is of that: it is late, or a copy.
        if ahead >= longest.min(candidate.behind) {
            return self.stay_apart(candidate);
        }
        self.arrived.slide(self.expected, ahead + 1);
        self.accepted.slide(self.expected, ahead + 1);
        self.expected = space.forward(number, 1);
        self.mark(candidate);
        Membership::New
    }

    fn look_back(&mut self, space: SequenceSpace, candidate: Candidate) -> Membership {
        let number = candidate.number;
        let behind = space.distance(number, self.expected);
        if behind > self.arrived.size() {
            return self.stay_apart(candidate);
        }
        if self.has(space, number) {
            return if self.accepted.contains(number) { Membership::Again } else { Membership::Apart };
        }
        if behind > space.distance(self.lowest, self.expected) {
            self.lowest = number;
        }
        self.mark(candidate);
        Membership::New
    }

    /// Whether a number is known to have arrived.
    fn has(&self, space: SequenceSpace, number: u32) -> bool {
        let behind = space.distance(number, self.expected);
        (1..=self.arrived.size()).contains(&behind) && self.arrived.contains(number)
    }

    fn stay_apart(&mut self, candidate: Candidate) -> Membership {
        self.misfits = self.misfits.saturating_add(u32::from(candidate.may_begin));
        Membership::Apart
    }

    fn mark(&mut self, candidate: Candidate) {
        self.misfits = 0;
        self.length = self.length.saturating_add(1);
        self.arrived.mark(candidate.number);
        if candidate.is_accepted {
            self.accepted.mark(candidate.number);
        } else {
            self.refused = self.refused.saturating_add(1);
        }
    }
}

/// Numbers of a run that are tracked one by one: 256 bytes of bitmaps.
const MAX_TRACKED: u32 = 1_024;
/// Longest step forward of a run, in numbers, to one with which no run may begin.
const LONGEST_STEP: u32 = 64;
/// Maximum number of misfits in a row before another run begins.
const MAX_MISFITS: u32 = 16;
