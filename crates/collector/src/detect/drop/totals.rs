//! What was dropped since each event began.

use hashbrown::HashMap;
use inband_model::{EventKind, Flow, Nanos};

use crate::deadlines::Deadlines;
use crate::outbox::Outbox;

use super::group::Place;
use super::room::Room;
use super::tally::Tally;

/// The tallies of the active events, each from the begin of its event on; up to a maximum.
#[derive(Debug)]
pub(super) struct Totals {
    max: usize,
    totals: HashMap<Subject, Tally>,
    /// When to check whether an event is still active, once for each total.
    checks: Deadlines<Subject>,
}

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Subject {
    /// All drops at a place.
    Drops(Place),
    /// Those of flows that do not get past it.
    Blackhole(Place),
}

/// All drops of a subject since its event began.
#[derive(Debug)]
pub(super) struct Total {
    pub(super) reports: u64,
    pub(super) packets: u64,
    pub(super) flow_count: u64,
    /// The first flows.
    pub(super) flows: Vec<Flow>,
    /// Whether the queue was ever congested.
    pub(super) is_congested: bool,
}

impl Totals {
    pub(super) fn new(max: usize) -> Self {
        Self { max, totals: HashMap::new(), checks: Deadlines::new() }
    }

    /// Adds the latest drops of a subject to those since its event began, if it is active; returns all of
    /// them.
    pub(super) fn add(
        &mut self,
        now: Nanos,
        subject: Subject,
        tally: Tally,
        (outbox, ids): (&Outbox, &mut Room),
    ) -> Total {
        if let Some(total) = self.totals.get_mut(&subject) {
            if outbox.is_active(EventKind::Drop, &subject.key()) {
                total.merge(tally, ids);
            } else {
                std::mem::replace(total, tally).release(ids);
            }
            return Total::of(total);
        }
        let total = Total::of(&tally);
        if self.totals.len() < self.max {
            self.checks.set(now + CHECKED_EVERY, subject);
            self.totals.insert(subject, tally);
        } else {
            tally.release(ids);
        }
        total
    }

    /// Drops the totals of events that have ended.
    pub(super) fn handle_timeout(&mut self, now: Nanos, outbox: &Outbox, ids: &mut Room) {
        while let Some(subject) = self.checks.pop_due(now) {
            if outbox.is_active(EventKind::Drop, &subject.key()) {
                self.checks.set(now + CHECKED_EVERY, subject);
            } else if let Some(total) = self.totals.remove(&subject) {
                total.release(ids);
            }
        }
    }

    pub(super) fn next_timeout(&self) -> Option<Nanos> {
        self.checks.next()
    }
}

impl Total {
    fn of(tally: &Tally) -> Self {
        let Tally { reports, packets, ref flows, is_congested } = *tally;
        Self { reports, packets, flow_count: flows.count(), flows: flows.named().to_vec(), is_congested }
    }
}

impl Subject {
    /// The key of its event.
    pub(super) fn key(self) -> String {
        match self {
            Self::Drops(place) => place.key(),
            Self::Blackhole(place) => place.key() + " blackhole",
        }
    }
}

/// How often an event is checked for its end.
const CHECKED_EVERY: Nanos = Nanos::from_secs(5);
