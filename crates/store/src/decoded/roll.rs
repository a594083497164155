//! The roll-ups of a growing log.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use inband_model::table::{FlowMinuteRow, LinkMinuteRow, MinuteRow, TotalRow};

use super::part::LogPart;
use crate::minutes::hours;
use crate::roll_ups::Counted;

/// The counts of a log, shared by questions.
#[derive(Debug, Default)]
pub(super) struct Rolling {
    state: Mutex<State>,
    bytes: AtomicUsize,
}

/// The counts of a log, and the roll-ups made of them.
#[derive(Debug, Default)]
struct State {
    counted: Counted,
    /// Parts that are counted completely, once the next one has begun.
    parts: usize,
    /// Reports of the next part that are counted.
    reports: usize,
    made: Made,
}

/// The rows of the requested roll-ups.
#[derive(Debug, Default)]
struct Made {
    minutes: Rows<MinuteRow>,
    hours: Rows<MinuteRow>,
    flows: Rows<FlowMinuteRow>,
    links: Rows<LinkMinuteRow>,
    totals: Rows<TotalRow>,
}

type Rows<R> = Option<Arc<Vec<R>>>;

impl Rolling {
    /// Bytes of memory, approximately. Never waits for a question.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Acquire)
    }

    pub(super) fn minutes(&self, parts: &[Arc<LogPart>]) -> Arc<Vec<MinuteRow>> {
        self.rows(parts, |made| &mut made.minutes, Counted::minutes)
    }

    pub(super) fn hours(&self, parts: &[Arc<LogPart>]) -> Arc<Vec<MinuteRow>> {
        self.rows(parts, |made| &mut made.hours, |counted| hours(&counted.minutes()))
    }

    pub(super) fn flows(&self, parts: &[Arc<LogPart>]) -> Arc<Vec<FlowMinuteRow>> {
        self.rows(parts, |made| &mut made.flows, Counted::flows)
    }

    pub(super) fn links(&self, parts: &[Arc<LogPart>]) -> Arc<Vec<LinkMinuteRow>> {
        self.rows(parts, |made| &mut made.links, Counted::links)
    }

    pub(super) fn totals(&self, parts: &[Arc<LogPart>]) -> Arc<Vec<TotalRow>> {
        self.rows(parts, |made| &mut made.totals, Counted::totals)
    }

    /// The rows of one roll-up of these parts: counts only what is new.
    fn rows<R>(
        &self,
        parts: &[Arc<LogPart>],
        place: fn(&mut Made) -> &mut Rows<R>,
        make: fn(&Counted) -> Vec<R>,
    ) -> Arc<Vec<R>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.is_in(parts) {
            // A question with a later snapshot came first.
            drop(state);
            let mut own = State::default();
            own.count(parts);
            return Arc::new(make(&own.counted));
        }
        state.count(parts);
        let State { counted, made, .. } = &mut *state;
        let rows = Arc::clone(place(made).get_or_insert_with(|| Arc::new(make(counted))));
        self.bytes.store(state.bytes(), Ordering::Release);
        rows
    }
}

impl State {
    /// The rows of a roll-up are about as large as the counts behind them.
    fn bytes(&self) -> usize {
        self.counted.bytes() * if self.made.is_empty() { 1 } else { 2 }
    }

    /// Whether these parts contain all that is counted.
    fn is_in(&self, parts: &[Arc<LogPart>]) -> bool {
        let reports = parts.get(self.parts).map_or(0, |part| part.memory.hops.reports().len());
        self.parts < parts.len().max(1) && self.reports <= reports
    }

    fn count(&mut self, parts: &[Arc<LogPart>]) {
        for (index, part) in parts.iter().enumerate().skip(self.parts) {
            let hops = &part.memory.hops;
            let done = if index == self.parts { self.reports } else { 0 };
            if done < hops.reports().len() {
                self.counted.add(hops, done..hops.reports().len());
                self.made = Made::default();
            }
            (self.parts, self.reports) = (index, hops.reports().len());
        }
    }
}

impl Made {
    fn is_empty(&self) -> bool {
        let Self { minutes, hours, flows, links, totals } = self;
        minutes.is_none() && hours.is_none() && flows.is_none() && links.is_none() && totals.is_none()
    }
}
