//! Execution of a plan by two threads.

use std::thread;

use super::combine::{grouped, listed};
use super::context::Context;
use super::output::arranged;
use super::plan::{Input, Plan};
use super::slots::{SlotColumn, Slots};
use super::source::{Source, may_hold, times};
use super::stop::Stop;
use super::worker::Worker;
use crate::budget::Charge;
use crate::question::QueryError;

/// Why there is no answer: history cannot be read, or another reason.
pub(super) enum Failure {
    Store(crate::error::StoreError),
    Stop(Stop),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// The slots of a plan's groups or rows.
pub(super) fn run(plan: &Plan, context: &Context<'_>, charge: &mut Charge) -> Result<Slots, Failure> {
    let source = match &plan.input {
        Input::Table(shape) => {
            let chunks = context.history.chunks(shape, times(&plan.tests)).map_err(Failure::Store)?;
            Source::Table {
                shape,
                chunks: chunks.into_iter().filter(|chunk| may_hold(chunk, &plan.tests)).collect(),
            }
        }
        Input::Plan(inner) => {
            let slots = run(inner, context, charge)?;
            let slots = arranged(inner, slots, &context.words);
            let columns = inner.outputs.iter().map(|(_, slot)| match &slots.columns[*slot] {
                SlotColumn::Numbers(column) => Ok(column.clone()),
                SlotColumn::Fractions(_) => Err(Stop::GiveUp),
            });
            Source::Columns { columns: columns.collect::<Result<_, _>>()?, rows: slots.rows }
        }
    };
    let ahead = source.ahead(plan);
    let parts = thread::scope(|scope| {
        let work = || Worker::new(plan, context, &source).work(&ahead);
        let threads = source.parts().min(MAX_THREADS);
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut parts = vec![work()];
        parts.extend(others.into_iter().map(|other| other.join().unwrap_or(Err(Stop::GiveUp))));
        parts.into_iter().collect::<Result<Vec<_>, _>>()
    })?;
    Ok(match &plan.aggregates {
        Some(aggregates) => grouped(parts, aggregates, plan.keys.len(), charge)?,
        None => listed(parts, plan.keys.len(), charge)?,
    })
}

/// The error of a failed question; `None` if SQLite has to answer it.
pub(super) fn error(failure: Failure, limit: std::time::Duration) -> Option<QueryError> {
    match failure {
        Failure::Store(error) => Some(QueryError::Store(error)),
        Failure::Stop(Stop::Late) => Some(QueryError::Time(limit)),
        Failure::Stop(Stop::GiveUp) => None,
    }
}

/// Maximum threads that read at once.
const MAX_THREADS: usize = 2;
