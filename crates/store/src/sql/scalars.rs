//! The SQL functions for times and sketches: `bucket`, `log2`, `sketch_quantile` and `sketch_merge`.

use std::sync::Arc;

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};

use crate::budget::Budget;
use crate::sketch::Sketch;
use crate::source::integer;
use crate::span::parse_span;

/// Adds the functions. Each returns NULL for NULL.
pub(super) fn add(connection: &Connection, budget: &Arc<Budget>) -> Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("bucket", 2, flags, |context| {
        let span = span(context)?;
        match context.get_raw(0) {
            // Less than the smallest integer: no such bucket has a number.
            ValueRef::Integer(time) => Ok(time.div_euclid(span).checked_mul(span)),
            ValueRef::Null => Ok(None),
            _ => Err(wrong("bucket: a time is an integer")),
        }
    })?;
    connection.create_scalar_function("log2", 1, flags, |context| {
        Ok(number(context, 0, "log2: an argument is a number")?.filter(|number| *number > 0.0).map(f64::log2))
    })?;
    connection.create_scalar_function("sketch_quantile", 2, flags, |context| {
        let Some(sketch) = sketch(context, "sketch_quantile: no sketch as minutes has them")? else {
            return Ok(None);
        };
        match number(context, 1, SHARE)? {
            None => Ok(None),
            Some(share) if (0.0..=1.0).contains(&share) => Ok(sketch.quantile_at(share).map(integer)),
            Some(_) => Err(wrong(SHARE)),
        }
    })?;
    connection.create_aggregate_function("sketch_merge", 1, flags, Merge(Arc::clone(budget)))
}

/// The aggregate that merges sketches, returned as text.
struct Merge(Arc<Budget>);

impl Aggregate<Sketch, Option<String>> for Merge {
    fn init(&self, _: &mut Context<'_>) -> Result<Sketch> {
        Ok(Sketch::default())
    }

    fn step(&self, context: &mut Context<'_>, merged: &mut Sketch) -> Result<()> {
        self.0.check_time()?;
        if let Some(sketch) = sketch(context, "sketch_merge: no sketch as minutes has them")? {
            merged.merge(&sketch);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, merged: Option<Sketch>) -> Result<Option<String>> {
        Ok(merged.filter(|sketch| sketch.count() > 0).map(|sketch| sketch.to_text()))
    }
}

/// The first argument as a sketch; `None` if NULL.
fn sketch(context: &Context<'_>, what: &'static str) -> Result<Option<Sketch>> {
    match context.get_raw(0) {
        ValueRef::Text(text) => {
            let sketch = str::from_utf8(text).ok().and_then(Sketch::parse);
            sketch.map(Some).ok_or_else(|| wrong(what))
        }
        ValueRef::Null => Ok(None),
        _ => Err(wrong(what)),
    }
}

/// The second argument as nanoseconds: an integer, or a string such as `10s`.
fn span(context: &Context<'_>) -> Result<i64> {
    let span = match context.get_raw(1) {
        ValueRef::Integer(span) => Some(span),
        ValueRef::Text(text) => str::from_utf8(text).ok().and_then(parse_span),
        _ => None,
    };
    span.filter(|span| *span > 0)
        .ok_or_else(|| wrong("bucket: a span is a number of nanoseconds, or such as '10s'"))
}

/// An argument as a number; `None` if NULL.
#[allow(clippy::cast_precision_loss, reason = "these functions have fractions")]
fn number(context: &Context<'_>, index: usize, what: &'static str) -> Result<Option<f64>> {
    match context.get_raw(index) {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(number) => Ok(Some(number as f64)),
        ValueRef::Real(number) => Ok(Some(number)),
        _ => Err(wrong(what)),
    }
}

const SHARE: &str = "sketch_quantile: the share is from 0 to 1";

fn wrong(what: &'static str) -> Error {
    Error::UserFunctionError(what.into())
}
