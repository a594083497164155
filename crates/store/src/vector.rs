//! Column-wise execution of a subset of SQL, many times faster than row by row.
//!
//! SQLite answers everything else, with the same results: only the time differs.

mod aggregate;
mod column;
mod combine;
mod context;
mod filter;
mod groups;
mod output;
mod parse;
mod plan;
mod run;
mod scalar;
mod slots;
mod source;
mod stop;
mod token;
mod values;
mod words;
mod worker;

use std::sync::Arc;

use inband_model::table::shapes;

use self::context::Context;
use self::plan::Plan;
use self::words::Words;
use crate::budget::{Budget, Charge};
use crate::history::History;
use crate::question::{Answer, Limits, QueryError};

/// Answers a question; `None` if SQLite has to.
pub(crate) fn answer(
    history: &History,
    sql: &str,
    budget: &Arc<Budget>,
    limits: Limits,
) -> Option<Result<Answer, QueryError>> {
    let select = parse::parse(sql)?;
    let plan = Plan::of(&select, &shapes())?;
    let context = Context { history, budget, words: Words::default() };
    let mut charge = Charge::new(budget);
    match run::run(&plan, &context, &mut charge) {
        Ok(slots) => Some(output::answer(&plan, slots, &context.words, &mut charge, limits)),
        Err(failure) => run::error(failure, limits.time).map(Err),
    }
}

#[cfg(test)]
mod tests;
