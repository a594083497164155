//! The roll-ups of a growing log.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inband_model::table::{FlowMinuteRow, LinkMinuteRow, MinuteRow, TotalRow};

use super::part::LogPart;
use crate::roll_ups::{FlowMinutes, LinkMinutes, Minutes, RollUp, Totals, hours};

/// The roll-ups of a log, shared by questions. Each is counted when it is asked for.
#[derive(Debug, Default)]
pub(super) struct Rolling {
    minutes: Rolled<Minutes>,
    hours: Mutex<Option<Hours>>,
    hours_bytes: AtomicUsize,
    flows: Rolled<FlowMinutes>,
    links: Rolled<LinkMinutes>,
    totals: Rolled<Totals>,
}

/// The hours of a log, and the minutes that they were made of.
#[derive(Debug)]
struct Hours {
    of: Arc<Vec<MinuteRow>>,
    rows: Arc<Vec<MinuteRow>>,
}

/// One roll-up.
#[derive(Debug, Default)]
struct Rolled<R: RollUp> {
    state: Mutex<State<R>>,
    bytes: AtomicUsize,
}

/// The counts of a log, and the rows made of them.
#[derive(Debug)]
struct State<R: RollUp> {
    counted: R,
    /// Parts that are counted completely, once the next one has begun.
    parts: usize,
    /// Reports of the next part that are counted.
    reports: usize,
    made: Option<Arc<Vec<R::Row>>>,
}

impl Rolling {
    /// Bytes of memory, approximately. Never waits for a question.
    pub(super) fn bytes(&self) -> usize {
        let Self { minutes, hours: _, hours_bytes, flows, links, totals } = self;
        let all = [&minutes.bytes, hours_bytes, &flows.bytes, &links.bytes, &totals.bytes];
        all.map(|bytes| bytes.load(Ordering::Acquire)).into_iter().sum()
    }

    pub(super) fn minutes(&self, parts: &[Arc<LogPart>]) -> Arc<Vec<MinuteRow>> {
        self.minutes.rows(parts)
    }

    pub(super) fn hours(&self, parts: &[Arc<LogPart>]) -> Arc<Vec<MinuteRow>> {
        let minutes = self.minutes(parts);
        let mut made = self.hours.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some(hours) if Arc::ptr_eq(&hours.of, &minutes) => Arc::clone(&hours.rows),
            _ => {
                let rows = Arc::new(hours(&minutes));
                // About as large as the minutes, which have their counts beside them.
                self.hours_bytes.store(self.minutes.bytes.load(Ordering::Acquire) / 2, Ordering::Release);
                *made = Some(Hours { of: minutes, rows: Arc::clone(&rows) });
                rows
            }
        }
    }

    pub(super) fn flows(&self, parts: &[Arc<LogPart>]) -> Arc<Vec<FlowMinuteRow>> {
        self.flows.rows(parts)
    }

    pub(super) fn links(&self, parts: &[Arc<LogPart>]) -> Arc<Vec<LinkMinuteRow>> {
        self.links.rows(parts)
    }

    pub(super) fn totals(&self, parts: &[Arc<LogPart>]) -> Arc<Vec<TotalRow>> {
        self.totals.rows(parts)
    }
}

impl<R: RollUp> Rolled<R> {
    /// The rows of these parts: counts only what is new.
    fn rows(&self, parts: &[Arc<LogPart>]) -> Arc<Vec<R::Row>> {
        let mut state = self.state();
        if !state.is_in(parts) {
            // A question with a later snapshot came first.
            drop(state);
            return State::<R>::default().rows(parts);
        }
        let rows = state.rows(parts);
        self.bytes.store(state.bytes(), Ordering::Release);
        rows
    }

    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: RollUp> State<R> {
    /// The rows are about as large as the counts behind them.
    fn bytes(&self) -> usize {
        self.counted.bytes() * if self.made.is_none() { 1 } else { 2 }
    }

    /// Whether these parts contain all that is counted.
    fn is_in(&self, parts: &[Arc<LogPart>]) -> bool {
        let reports = parts.get(self.parts).map_or(0, |part| part.memory.hops.reports().len());
        self.parts < parts.len().max(1) && self.reports <= reports
    }

    fn rows(&mut self, parts: &[Arc<LogPart>]) -> Arc<Vec<R::Row>> {
        for (index, part) in parts.iter().enumerate().skip(self.parts) {
            let hops = &part.memory.hops;
            let done = if index == self.parts { self.reports } else { 0 };
            if done < hops.reports().len() {
                self.counted.add(hops, done..hops.reports().len());
                self.made = None;
            }
            (self.parts, self.reports) = (index, hops.reports().len());
        }
        Arc::clone(self.made.get_or_insert_with(|| Arc::new(self.counted.rows())))
    }
}

impl<R: RollUp> Default for State<R> {
    fn default() -> Self {
        Self { counted: R::default(), parts: 0, reports: 0, made: None }
    }
}
