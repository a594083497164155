//! Measurement of all subjects within one run.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Something that is measured in batches.
pub(crate) trait Subject {
    /// Number of packets or reports in one batch.
    fn items(&self) -> usize;

    /// Restores the state at the start of a batch; not measured.
    fn prepare(&mut self);

    /// Handles one batch of items; measured.
    fn run(&mut self);

    /// Checks that the last batch did what the subject is measured for.
    ///
    /// # Errors
    /// It did not, so its time means nothing.
    fn verify(&mut self) -> Result<()>;
}

/// A subject by the name of its row.
pub(crate) struct Row {
    pub name: String,
    pub subject: Box<dyn Subject>,
    /// The rows it is compared with.
    pub beside: Option<Beside>,
}

/// Indices of the rows that do the minimum work of a node on the packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside {
    pub memmove: usize,
    pub etherparse: usize,
}

/// Nanoseconds per item, over all batches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Time {
    pub median_ns: f64,
    pub minimum_ns: f64,
}

/// Measures `rounds` batches of every row, one batch of each in turn.
///
/// Alternating spreads other load of the machine evenly over all rows, so their ratios hold although the
/// times do not.
///
/// # Errors
/// A row does not do what it is measured for.
pub(crate) fn measure(rows: &mut [Row], rounds: usize) -> Result<Vec<Time>> {
    for row in rows.iter_mut() {
        batch(row.subject.as_mut());
        row.subject.verify().with_context(|| format!("cannot measure {}", row.name))?;
    }
    let mut batches = vec![Vec::with_capacity(rounds); rows.len()];
    for round in 0..rounds {
        for turn in 0..rows.len() {
            let index = (turn + round) % rows.len();
            batches[index].push(batch(rows[index].subject.as_mut()));
        }
    }
    Ok(rows.iter().zip(&mut batches).map(|(row, batches)| summary(batches, row.subject.items())).collect())
}

/// Runs a row once, with its batch inside [`counted_batch`], after a batch that warms it up; returns the
/// number of items in a batch.
///
/// # Errors
/// The row does not do what it is measured for.
pub(crate) fn count(row: &mut Row) -> Result<usize> {
    batch(row.subject.as_mut());
    row.subject.verify().with_context(|| format!("cannot count {}", row.name))?;
    row.subject.prepare();
    counted_batch(row.subject.as_mut());
    Ok(row.subject.items())
}

/// The batch whose instructions are counted: a separate function, so that a tool finds it by this name.
#[inline(never)]
fn counted_batch(subject: &mut dyn Subject) {
    black_box(&mut *subject).run();
}

/// Runs one batch; returns how long it took.
fn batch(subject: &mut dyn Subject) -> Duration {
    subject.prepare();
    let started = Instant::now();
    black_box(&mut *subject).run();
    started.elapsed()
}

fn summary(batches: &mut [Duration], items: usize) -> Time {
    batches.sort_unstable();
    let per_item = |batch: Option<&Duration>| {
        batch.copied().unwrap_or_default().as_secs_f64() * NANOS_PER_SECOND / items.max(1) as f64
    };
    Time { median_ns: per_item(batches.get(batches.len() / 2)), minimum_ns: per_item(batches.first()) }
}

const NANOS_PER_SECOND: f64 = 1e9;
