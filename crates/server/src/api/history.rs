//! History queries of endpoints: one snapshot, several SQL queries, one set of limits.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use inband_model::api::TimeRange;
use inband_model::{FlowId, Nanos};
use inband_store::{Answer, Cell, Limits, QueryError};

use super::Shared;
use super::cost::counted;
use super::problem::{Problem, shown};
use super::turn::turn;
use crate::archive::Snapshot;

/// History at one moment, with the remaining limits of queries.
pub(super) struct Past {
    history: Box<dyn Snapshot>,
    limits: Limits,
    begun: Instant,
    damage: usize,
}

/// A row of an answer.
pub(super) type Row = Vec<Cell>;

impl Past {
    /// The rows of an SQL query.
    pub(super) fn rows(&mut self, sql: &str) -> Result<Vec<Row>, QueryError> {
        let answer = self.history.query(sql, self.left()?)?;
        Ok(self.take(answer))
    }

    /// The rows of several SQL queries, each answered by its own thread.
    pub(super) fn rows_of_each(&mut self, queries: &[String]) -> Result<Vec<Vec<Row>>, QueryError> {
        let (history, left) = (&*self.history, self.left()?);
        let answers: Vec<Result<Answer, QueryError>> = thread::scope(|scope| {
            let ask = |sql: &String| history.query(sql, left);
            let (first, others) = queries.split_first().unzip();
            let others = others.unwrap_or_default();
            let asked: Vec<_> = others.iter().map(|sql| scope.spawn(move || ask(sql))).collect();
            // A panic of a thread has been printed.
            let others = asked.into_iter().zip(others);
            let mut answers: Vec<_> = first.map(ask).into_iter().collect();
            answers.extend(others.map(|(asked, sql)| asked.join().unwrap_or_else(|_| ask(sql))));
            answers
        });
        answers.into_iter().map(|answer| Ok(self.take(answer?))).collect()
    }

    /// The rows of an answer; keeps what was left out of it.
    fn take(&mut self, answer: Answer) -> Vec<Row> {
        self.damage = self.damage.max(answer.findings.damage.len());
        answer.rows
    }

    /// Number of damaged parts left out.
    pub(super) fn damage(&self) -> u32 {
        u32::try_from(self.damage.max(self.history.findings().damage.len())).unwrap_or(u32::MAX)
    }

    pub(super) fn history(&self) -> &dyn Snapshot {
        &*self.history
    }

    /// Whether `totals` covers a time range: earlier versions did not write it.
    pub(super) fn has_totals(&self, range: TimeRange) -> bool {
        self.has("totals", range)
    }

    /// Whether a roll-up covers a time range: earlier versions may not have written it.
    pub(super) fn has(&self, table: &str, range: TimeRange) -> bool {
        let oldest = |table| self.history.oldest_of(table).map(|hour| hour.0);
        match (oldest(table), oldest("observations")) {
            (Some(totals), Some(hops)) => totals <= hops || totals.saturating_add(HOUR_NS) <= range.from.0,
            (totals, hops) => totals.is_some() || hops.is_none(),
        }
    }

    /// The remaining limits.
    pub(super) fn left(&self) -> Result<Limits, QueryError> {
        match self.limits.time.checked_sub(self.begun.elapsed()) {
            Some(time) if !time.is_zero() => Ok(Limits { time, ..self.limits }),
            _ => Err(QueryError::Time(self.limits.time)),
        }
    }
}

/// Queries history on a thread that may block on a disk.
pub(super) async fn ask<T: Send + 'static>(
    state: &Shared,
    question: impl FnOnce(&mut Past) -> Result<T, QueryError> + Send + 'static,
) -> Result<T, Problem> {
    let Some(archive) = state.archive.as_ref().map(Arc::clone) else {
        return Err(Problem::unavailable("no history is kept: store.path is empty"));
    };
    let (turn, _caller) = turn(&state.queries).await?;
    let limits = Limits { rows: MAX_ROWS, ..state.limits() };
    let ask = counted(move || {
        let history = turn.snapshot(&*archive)?;
        question(&mut Past { history, limits, begun: Instant::now(), damage: 0 })
    });
    match tokio::task::spawn_blocking(ask).await {
        Ok(Ok(found)) => Ok(found),
        // A retry would cost as much again.
        Ok(Err(error @ (QueryError::Time(_) | QueryError::Memory(_) | QueryError::Rows(_)))) => {
            Err(Problem::too_costly(format!("{error}; ask for less time")))
        }
        Ok(Err(error)) => Err(Problem::unavailable(error.to_string())),
        Err(_) => Err(Problem::unavailable("the question could not be answered")),
    }
}

/// The SQL condition for a time range.
pub(super) fn within(range: TimeRange) -> String {
    let clip = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
    format!("time >= {} AND time < {}", clip(range.from.0), clip(range.to.0))
}

/// A time range extended to whole units, such as minutes; it ends at `now` if its last unit is running.
pub(super) fn in_whole(unit_ns: u64, range: TimeRange, now: Nanos) -> TimeRange {
    let end = Nanos(range.to.0.checked_next_multiple_of(unit_ns).unwrap_or(range.to.0));
    TimeRange {
        from: Nanos(range.from.0 - range.from.0 % unit_ns),
        to: if end > now { range.to.max(now) } else { end },
    }
}

/// Parses the id of a flow in a path.
pub(super) fn flow_id(text: &str) -> Result<FlowId, Problem> {
    flow_of("id", text)
}

/// Parses the id of a flow in the parameter with this name.
pub(super) fn flow_of(parameter: &str, text: &str) -> Result<FlowId, Problem> {
    let number: Result<i64, _> = text.parse();
    let id = number.ok().and_then(|number| u64::try_from(number).ok()).map(FlowId);
    let shown = shown(text);
    id.ok_or_else(|| {
        Problem::parameter(
            parameter,
            format!("`{shown}` is not the id of a flow"),
            "a number, as /api/v1/flows has it",
        )
    })
}

/// A number that is present and not negative.
pub(super) fn number(cell: &Cell) -> Option<u64> {
    match cell {
        Cell::Integer(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

/// A number of at most 32 bits that is present and not negative.
pub(super) fn small(cell: &Cell) -> Option<u32> {
    number(cell).and_then(|number| u32::try_from(number).ok())
}

/// A required number; 0 if it is missing.
pub(super) fn count(cell: &Cell) -> u64 {
    number(cell).unwrap_or(0)
}

pub(super) fn text(cell: &Cell) -> Option<&str> {
    match cell {
        Cell::Text(text) => Some(text),
        _ => None,
    }
}

/// The length of a step such that a time range has at most `MAX_STEPS` of them.
pub(super) fn step(
    range: TimeRange,
    wanted: Option<inband_model::api::Span>,
    usual: u64,
) -> Result<u64, Problem> {
    let step = wanted.map_or_else(|| (range.length() / usual).max(1), |span| span.0.0);
    match range.length().div_ceil(step) {
        0..=MAX_STEPS => Ok(step),
        steps => Err(Problem::parameter(
            "step",
            format!("the time has {steps} steps"),
            format!(
                "at least {} ns, so that there are at most {MAX_STEPS} steps",
                range.length().div_ceil(MAX_STEPS)
            ),
        )),
    }
}

const HOUR_NS: u64 = 3_600_000_000_000;
/// Maximum number of rows that history returns for one answer.
const MAX_ROWS: usize = 1 << 20;
/// Maximum number of steps of an answer.
const MAX_STEPS: u64 = 1_000;
