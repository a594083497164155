//! The writing side of the store.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use inband_model::HopColumns;
use inband_model::table::shapes;

use crate::batch::{Amount, Batch};
use crate::damage::{Damage, Findings, Notes};
use crate::decoded::{DecodedLogs, damage_of_log};
use crate::disk::{Disk, RealDisk};
use crate::error::StoreError;
use crate::flusher::{Flusher, Job, Signals};
use crate::footers::Footers;
use crate::history::History;
use crate::layout::{self, Generation};
use crate::listing::Listing;
use crate::log;
use crate::memory::Memory;
use crate::merge::Merger;
use crate::place::Place;
use crate::settings::StoreSettings;
use crate::tally::{Counters, Tally, count};
use crate::today::Today;
use crate::trouble::{Trouble, Watched};
use crate::writer::{Command, Writer};

/// A writable history in a directory, which only one store uses at a time.
#[derive(Debug)]
pub struct Store {
    settings: StoreSettings,
    commands: Option<SyncSender<Command>>,
    waiting_rows: Arc<AtomicUsize>,
    counters: Arc<Counters>,
    signals: Arc<Signals>,
    trouble: Arc<Trouble>,
    threads: Vec<JoinHandle<()>>,
    /// Ends the merging thread.
    closing: Option<SyncSender<()>>,
    /// Logs as decoded for questions.
    pub(crate) decoded: Arc<DecodedLogs>,
    /// Segments as listed for questions, and their footers as read.
    listing: Arc<Listing>,
    footers: Arc<Footers>,
    /// Damage found since the store was opened.
    notes: Notes,
    place: Arc<Place>,
}

/// The immediate outcome of offering a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Offered {
    /// It will be written.
    Queued,
    /// The queue is full; the batch is lost and counted.
    Shed,
}

impl Store {
    /// Opens or creates the store in a directory, and recovers logs that an earlier process left.
    ///
    /// # Errors
    /// The directory cannot be used, another process uses it, or a log is of an unknown version.
    pub fn open(settings: StoreSettings) -> Result<Store, StoreError> {
        Store::open_on(settings, RealDisk)
    }

    /// Opens the store like [`open`](Store::open), with the log written through `disk`.
    ///
    /// # Errors
    /// The directory cannot be used, another process uses it, or a log is of an unknown version.
    pub fn open_on(settings: StoreSettings, disk: impl Disk) -> Result<Store, StoreError> {
        let root = &settings.path;
        let counters = Arc::new(Counters::default());
        let place = Arc::new(Place::take(root, Arc::clone(&counters))?);
        let names: Vec<_> = shapes().iter().map(|shape| shape.name).collect();
        layout::remove_unfinished(root, &names)?;
        let notes = Notes::default();
        let backlog = recover(root, &counters, &notes)?;
        let next_generation = 1 + last_generation(root, &names)?;
        let (commands, queue) = sync_channel(QUEUED_BATCHES);
        let (jobs, flushable) = sync_channel(1);
        let (waiting_rows, signals) = (Arc::default(), Arc::new(Signals::default()));
        let trouble = Arc::new(Trouble::default());
        let decoded = Arc::new(DecodedLogs::keeping(settings.segment_rows.saturating_mul(KEPT_LOGS)));
        let listing = Arc::new(Listing::default());
        let flusher = Flusher {
            settings: settings.clone(),
            backlog,
            jobs: flushable,
            place: Arc::clone(&place),
            counters: Arc::clone(&counters),
            signals: Arc::clone(&signals),
            trouble: Arc::clone(&trouble),
            decoded: Arc::clone(&decoded),
            listing: Arc::clone(&listing),
            today: Today::start(),
            has_given_up: false,
        };
        let writer = Writer {
            settings: settings.clone(),
            disk: Box::new(Watched { disk, trouble: Arc::clone(&trouble) }),
            commands: queue,
            place: Arc::clone(&place),
            rescued: VecDeque::new(),
            watched_at: Instant::now(),
            waiting_rows: Arc::clone(&waiting_rows),
            jobs,
            counters: Arc::clone(&counters),
            signals: Arc::clone(&signals),
            next_generation,
            open: None,
        };
        let (closing, closed) = sync_channel(0);
        let merger = Merger {
            settings: settings.clone(),
            place: Arc::clone(&place),
            signals: Arc::clone(&signals),
            counters: Arc::clone(&counters),
            today: Today::start(),
            closing: closed,
            waiting: HashMap::new(),
            replaced: HashMap::new(),
        };
        let threads = vec![
            spawn(root, "store-writer", move || writer.run())?,
            spawn(root, "store-flusher", move || flusher.run())?,
            spawn(root, "store-merger", move || merger.run())?,
        ];
        Ok(Store {
            settings,
            commands: Some(commands),
            waiting_rows,
            counters,
            signals,
            trouble,
            threads,
            closing: Some(closing),
            decoded,
            listing,
            footers: Arc::default(),
            notes,
            place,
        })
    }

    /// Offers a batch. Never waits.
    pub fn offer(&self, batch: Batch) -> Offered {
        let (rows, amount) = (batch.weight(), batch.amount());
        count(&self.counters.offered, amount.reports);
        let waiting = self.waiting_rows.fetch_add(rows, Ordering::AcqRel);
        let fits = waiting + rows <= self.settings.queue_rows;
        let commands = self.commands.as_ref().filter(|_| fits);
        if commands.is_some_and(|commands| commands.try_send(Command::Keep(Box::new(batch))).is_ok()) {
            return Offered::Queued;
        }
        self.waiting_rows.fetch_sub(rows, Ordering::AcqRel);
        self.counters.shed(amount);
        Offered::Shed
    }

    /// Offers a batch, waiting for room. A batch that is larger than the queue goes in alone.
    pub fn put(&self, batch: Batch) -> Offered {
        let (rows, amount) = (batch.weight(), batch.amount());
        count(&self.counters.offered, amount.reports);
        let fits = || {
            let waiting = self.waiting_rows.load(Ordering::Acquire);
            waiting == 0 || waiting + rows <= self.settings.queue_rows
        };
        while !fits() && !self.threads.iter().any(JoinHandle::is_finished) {
            thread::sleep(PAUSE);
        }
        self.waiting_rows.fetch_add(rows, Ordering::AcqRel);
        let commands = self.commands.as_ref();
        if commands.is_some_and(|commands| commands.send(Command::Keep(Box::new(batch))).is_ok()) {
            return Offered::Queued;
        }
        self.waiting_rows.fetch_sub(rows, Ordering::AcqRel);
        self.counters.shed(amount);
        Offered::Shed
    }

    /// Returns empty columns for the hops of a batch, with the memory of a stored batch if available.
    #[must_use]
    pub fn columns(&self) -> HopColumns {
        self.signals.take_columns()
    }

    /// Waits until everything offered before is durable or has failed.
    pub fn sync(&self) {
        let (answer, answered) = sync_channel(1);
        if self.commands.as_ref().is_some_and(|commands| commands.send(Command::Sync(answer)).is_ok()) {
            // A writer that has ended has nothing left to do.
            let _ = answered.recv();
        }
    }

    /// The directory of the history.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.settings.path
    }

    /// How long the rows of a table are kept.
    #[must_use]
    pub fn retains(&self, table: &str) -> Duration {
        self.settings.retain_of(table)
    }

    /// Maximum size of all files together, bytes.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        self.settings.max_size_bytes
    }

    /// The counts of reports so far. Never waits for the disk.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let is_in_segment = |damage: &&Damage| damage.file.extension().is_some_and(|kind| kind == "parquet");
        let findings = self.notes.findings();
        let damaged_places = findings.damage.iter().filter(is_in_segment).count() as u64;
        let (decoded_blocks, decoded_bytes) = (self.decoded.blocks(), self.decoded.bytes());
        let footer_bytes = self.footers.bytes();
        Tally { damaged_places, decoded_blocks, decoded_bytes, footer_bytes, ..self.counters.tally() }
    }

    /// Damage found since the store was opened: in logs at once, in segments when a question reads them.
    #[must_use]
    pub fn findings(&self) -> Findings {
        self.notes.findings()
    }

    /// What keeps history from being written, as found a moment ago; `None` if nothing does. Never
    /// waits for the disk.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.place.trouble().or_else(|| self.trouble.text())
    }

    /// Takes a snapshot of the history.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn history(&self) -> Result<History, StoreError> {
        let Self { settings, notes, decoded, listing, footers, .. } = self;
        History::open_noting(&settings.path, notes.below(), decoded, listing, footers)
    }

    /// Makes everything durable and writes it to segments; returns the final counts.
    pub fn close(mut self) -> Tally {
        self.finish();
        self.place.watch();
        self.tally()
    }

    fn finish(&mut self) {
        self.signals.is_closing.store(true, Ordering::Release);
        (self.commands, self.closing) = (None, None);
        for thread in self.threads.drain(..) {
            // A panic of a thread has been printed; the log keeps its rows.
            let _ = thread.join();
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Reads the existing logs, and cuts off torn ends. Damage is noted and left out.
fn recover(root: &Path, counters: &Counters, notes: &Notes) -> Result<Vec<Job>, StoreError> {
    let mut jobs = Vec::new();
    for (generation, path) in layout::logs(root)? {
        let bytes = fs::read(&path).map_err(StoreError::io("read", &path))?;
        let mut memory = Memory::default();
        let mut reports = 0;
        let outcome = log::decode(&bytes, |batch| {
            reports += batch.reports;
            drop(memory.add(batch));
        });
        if memory.is_empty() && log::has_other_version(&bytes) {
            return Err(StoreError::OtherVersion(path));
        }
        count(&counters.recovered, reports);
        count(&counters.damaged_blocks, outcome.damaged.len() as u64);
        damage_of_log(&path, &outcome).iter().for_each(|damage| notes.note(damage));
        if outcome.torn > 0 {
            count(&counters.torn_logs, 1);
            count(&counters.torn_bytes, outcome.torn as u64);
            cut(&path, (bytes.len() - outcome.torn) as u64).map_err(StoreError::io("cut", &path))?;
        }
        let (waiting, is_damaged) = (Amount::default(), !outcome.damaged.is_empty());
        jobs.push(Job { generation, memory, turn: 0, stored: 0, waiting, is_damaged });
    }
    Ok(jobs)
}

fn cut(path: &Path, length: u64) -> std::io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(length)?;
    file.sync_all()
}

fn last_generation(root: &Path, tables: &[&str]) -> Result<Generation, StoreError> {
    let logs = layout::logs(root)?.into_iter().chain(layout::damaged_logs(root)?);
    let mut last = logs.map(|(generation, _)| generation).max().unwrap_or(0);
    for table in tables {
        let segments = layout::segments(root, table)?;
        last = segments.iter().map(|segment| segment.generation).fold(last, u64::max);
    }
    Ok(last)
}

fn spawn(
    root: &Path,
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, StoreError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(StoreError::io("start a thread for", root))
}

/// Time between two checks for room.
const PAUSE: Duration = Duration::from_millis(1);
/// Logs that are kept decoded: the current one, the one that is being flushed, and one that waits for that.
const KEPT_LOGS: usize = 3;
/// Maximum queued batches, however few rows they have.
const QUEUED_BATCHES: usize = 16_384;

#[cfg(test)]
pub(crate) mod tests;
