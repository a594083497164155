//! The SQL function `quantile(value, share)`: the smallest value that at least this share of all values does
//! not exceed.

use std::sync::Arc;

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};

use crate::budget::Budget;
use crate::quantile::quantile;

/// Adds the function.
pub(super) fn add(connection: &Connection, budget: &Arc<Budget>) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_aggregate_function("quantile", 2, flags, Quantile(Arc::clone(budget)))
}

struct Quantile(Arc<Budget>);

/// The values of a group.
struct Values {
    values: Vec<i64>,
    share: f64,
    budget: Arc<Budget>,
}

impl Drop for Values {
    fn drop(&mut self) {
        self.budget.give_back(self.values.capacity() * size_of::<i64>());
    }
}

// A failure is recorded under a lock, which a panic cannot leave half done.
impl std::panic::RefUnwindSafe for Values {}
impl std::panic::UnwindSafe for Values {}

impl Aggregate<Values, Option<i64>> for Quantile {
    fn init(&self, context: &mut Context<'_>) -> Result<Values> {
        let share: f64 = context.get(1)?;
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::UserFunctionError("quantile: the share is from 0 to 1".into()));
        }
        Ok(Values { values: Vec::new(), share, budget: Arc::clone(&self.0) })
    }

    fn step(&self, context: &mut Context<'_>, group: &mut Values) -> Result<()> {
        let value = match context.get_raw(0) {
            ValueRef::Integer(value) => value,
            ValueRef::Null => return Ok(()),
            _ => return Err(Error::UserFunctionError("quantile: the values are integers".into())),
        };
        if group.values.len() == group.values.capacity() {
            let more = group.values.len().max(FIRST_VALUES);
            self.0.demand(more * size_of::<i64>())?;
            group.values.reserve_exact(more);
        }
        group.values.push(value);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, group: Option<Values>) -> Result<Option<i64>> {
        Ok(group.and_then(|mut group| {
            let share = group.share;
            quantile(&mut group.values, share)
        }))
    }
}

/// Capacity for the first values of a group.
const FIRST_VALUES: usize = 64;
