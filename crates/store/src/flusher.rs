//! The thread that makes segments of logs.

use std::fs;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use inband_model::table::{
    BURSTS, EVENTS, FLOW_MINUTES, HOURS, LEDGER, LINK_MINUTES, MINUTES, OBSERVATIONS, PATHS, REPORTS,
    SECONDS, TOTALS, Table,
};
use inband_model::{HopColumns, Nanos, ReportRecord};

use crate::batch::Amount;
use crate::bursts::bursts;
use crate::civil::Hour;
use crate::decoded::DecodedLogs;
use crate::disk::sync_directory;
use crate::error::StoreError;
use crate::layout::{self, Generation};
use crate::listing::Listing;
use crate::memory::Memory;
use crate::order::Order;
use crate::place::Place;
use crate::retention;
use crate::roll_ups::RollUps;
use crate::seconds::seconds;
use crate::segment::ROW_GROUP_ROWS;
use crate::settings::StoreSettings;
use crate::tally::{Counters, count, discount};
use crate::today::Today;
use crate::trouble::Trouble;

/// A complete log and its rows.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) generation: Generation,
    pub(crate) memory: Memory,
    /// The turn of the directory in which the log was written.
    pub(crate) turn: u64,
    /// Reports counted as stored since they were durable in the log.
    pub(crate) stored: u64,
    /// Rows whose reports count as waiting: the log was lost before they were durable.
    pub(crate) waiting: Amount,
    /// A part of the log could not be read.
    pub(crate) is_damaged: bool,
}

/// Makes segments of logs, one log at a time, in its own thread.
pub(crate) struct Flusher {
    pub(crate) settings: StoreSettings,
    /// Logs found when the store was opened.
    pub(crate) backlog: Vec<Job>,
    pub(crate) jobs: Receiver<Job>,
    pub(crate) place: Arc<Place>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) signals: Arc<Signals>,
    pub(crate) trouble: Arc<Trouble>,
    pub(crate) decoded: Arc<DecodedLogs>,
    pub(crate) listing: Arc<Listing>,
    pub(crate) today: Today,
    /// The store closes and a log could not be flushed: it and all later ones are left for the next start.
    pub(crate) has_given_up: bool,
}

/// State shared by the threads of a store.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    /// The last flush failed.
    pub(crate) is_failing: AtomicBool,
    /// The store is closing: what fails is left for the next start.
    pub(crate) is_closing: AtomicBool,
    /// The memory of a flushed log, for reuse.
    pub(crate) spare: Mutex<Option<Memory>>,
    /// Empty columns of stored batches, for reuse.
    columns: Mutex<Vec<HopColumns>>,
}

impl Signals {
    /// Keeps empty columns for reuse, at most [`MAX_COLUMNS`].
    pub(crate) fn give_columns(&self, empty: HopColumns) {
        if let Ok(mut columns) = self.columns.lock()
            && columns.len() < MAX_COLUMNS
        {
            columns.push(empty);
        }
    }

    /// Takes empty columns, with allocated memory if any are kept.
    pub(crate) fn take_columns(&self) -> HopColumns {
        self.columns.lock().ok().and_then(|mut columns| columns.pop()).unwrap_or_default()
    }
}

impl Flusher {
    /// Runs until no more jobs can come.
    pub(crate) fn run(mut self) {
        self.retain();
        for job in std::mem::take(&mut self.backlog) {
            self.work(job);
        }
        loop {
            match self.jobs.recv_timeout(RETENTION_INTERVAL) {
                Ok(job) => self.work(job),
                Err(RecvTimeoutError::Timeout) => {
                    self.decoded.forget_unasked(RETENTION_INTERVAL);
                    self.retain();
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Retries until it succeeds. A log is never skipped for later ones: readers take the oldest log as the
    /// end of what is in segments.
    fn work(&mut self, mut job: Job) {
        if self.has_given_up {
            return self.leave(&job);
        }
        job.memory.sort();
        let begun = Instant::now();
        while let Err(error) = self.flush(&job) {
            self.trouble.note_segments(Err(&error));
            self.signals.is_failing.store(true, Ordering::Release);
            count(&self.counters.flush_failures, 1);
            // A directory that is gone can be recreated in a moment.
            let is_given_up = !matches!(error, StoreError::Gone(_)) || begun.elapsed() >= GIVE_UP_AFTER;
            if self.signals.is_closing.load(Ordering::Acquire) && is_given_up {
                self.has_given_up = true;
                return self.leave(&job);
            }
            // Removing old hours may free space.
            self.retain();
            std::thread::sleep(RETRY_AFTER);
        }
        self.decoded.forget(job.generation);
        count(&self.counters.stored, job.waiting.reports);
        if job.turn != self.place.turn() {
            // They were gone with their log, and are on disk again.
            discount(&self.counters.gone, job.stored);
        }
        self.signals.is_failing.store(false, Ordering::Release);
        self.trouble.note_segments::<StoreError>(Ok(()));
        job.memory.clear();
        if let Ok(mut spare) = self.signals.spare.lock() {
            *spare = Some(job.memory);
        }
        self.retain();
    }

    /// Leaves a log for the next start. Rows that are only in memory are lost.
    fn leave(&self, job: &Job) {
        self.counters.fail(job.waiting);
        let has_log = layout::log_file(&self.settings.path, job.generation).exists();
        if !has_log && job.turn == self.place.turn() {
            count(&self.counters.gone, job.stored);
        }
    }

    fn flush(&self, job: &Job) -> Result<(), StoreError> {
        if self.place.watch() {
            flush(&self.settings, job, &self.listing)
        } else {
            Err(StoreError::Gone(self.settings.path.clone()))
        }
    }

    fn retain(&self) {
        // What cannot be removed is retried next time.
        if let Ok(removed) = retention::apply(&self.settings, self.today.now()) {
            count(&self.counters.removed_segments, removed);
        }
    }
}

/// Writes the segments of a log, then removes the log. May be repeated after an interruption: the segments
/// get the same names and rows.
pub(crate) fn flush(settings: &StoreSettings, job: &Job, listing: &Listing) -> Result<(), StoreError> {
    let Job { generation, memory, .. } = job;
    write_hops(settings, &memory.hops, *generation)?;
    // By flow, as questions read them.
    let mut paths = memory.paths.clone();
    paths.sort_by_cached_key(|path| (path.flow.id(), path.received_at));
    write_table(settings, &PATHS, &paths, *generation, |row| row.received_at)?;
    write_table(settings, &EVENTS, &memory.events, *generation, |row| row.last)?;
    write_table(settings, &LEDGER, &memory.ledger, *generation, |row| row.taken_at)?;
    write_table(settings, &REPORTS, &memory.evidence, *generation, |row| row.report.received_at)?;
    let RollUps { minutes, hours, flows, links, totals } = RollUps::of(&memory.hops);
    let hops = || std::iter::once(&memory.hops);
    let (seconds, bursts) = (seconds(hops(), &minutes), bursts(memory.events.iter(), hops()));
    write_table(settings, &SECONDS, &seconds, *generation, |row| row.minute)?;
    write_table(settings, &BURSTS, &bursts, *generation, |row| row.first)?;
    write_table(settings, &MINUTES, &minutes, *generation, |row| row.minute)?;
    write_table(settings, &HOURS, &hours, *generation, |row| row.minute)?;
    write_table(settings, &FLOW_MINUTES, &flows, *generation, |row| row.minute)?;
    write_table(settings, &LINK_MINUTES, &links, *generation, |row| row.minute)?;
    write_table(settings, &TOTALS, &totals, *generation, |row| row.second)?;
    listing.note_addition();
    let log = layout::log_file(&settings.path, *generation);
    // What could not be read may still be of use.
    let done = match job.is_damaged {
        true => fs::rename(&log, log.with_extension(layout::DAMAGED)),
        false => fs::remove_file(&log),
    };
    match done {
        // It was lost with its directory.
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        other => other.map_err(StoreError::io("remove", &log))?,
    }
    let directory = layout::log_directory(&settings.path);
    sync_directory(&directory).map_err(StoreError::io("sync", &directory))
}

/// Writes one segment of observations per hour.
fn write_hops(settings: &StoreSettings, hops: &HopColumns, generation: Generation) -> Result<(), StoreError> {
    let hour_of = |report: &ReportRecord| Hour::of(report.received_at);
    let reports = hops.reports();
    let mut hours: Vec<Hour> = reports.iter().map(hour_of).collect();
    hours.dedup();
    hours.sort_unstable();
    hours.dedup();
    for hour in &hours {
        let path = layout::segment_file(&settings.path, OBSERVATIONS.name, *hour, generation);
        let order = match hours.len() {
            1 => Order::of(hops, 0..reports.len(), ROW_GROUP_ROWS),
            _ => Order::of(
                hops,
                (0..reports.len()).filter(|report| hour_of(&reports[*report]) == *hour),
                ROW_GROUP_ROWS,
            ),
        };
        crate::segment::write_observations(&path, hops, &order)?;
    }
    Ok(())
}

/// Writes one segment of another table per hour.
fn write_table<R: Clone>(
    settings: &StoreSettings,
    table: &Table<R>,
    rows: &[R],
    generation: Generation,
    time: fn(&R) -> Nanos,
) -> Result<(), StoreError> {
    let mut hours: Vec<Hour> = rows.iter().map(|row| Hour::of(time(row))).collect();
    hours.sort_unstable();
    hours.dedup();
    for hour in &hours {
        let path = layout::segment_file(&settings.path, table.name, *hour, generation);
        if hours.len() == 1 {
            crate::segment::write(&path, table, rows)?;
        } else {
            let rows: Vec<R> = rows.iter().filter(|row| Hour::of(time(row)) == *hour).cloned().collect();
            crate::segment::write(&path, table, &rows)?;
        }
    }
    Ok(())
}

/// How often old segments are looked for when idle.
const RETENTION_INTERVAL: Duration = Duration::from_secs(60);
/// How long closing a store waits for a directory that is gone.
const GIVE_UP_AFTER: Duration = Duration::from_secs(2);
/// Time between two attempts.
const RETRY_AFTER: Duration = Duration::from_millis(200);
/// Maximum empty columns that are kept: about as many batches are in flight, of some hundred kilobytes each.
const MAX_COLUMNS: usize = 8;

#[cfg(test)]
mod tests;
