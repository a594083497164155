//! The writer of the log: appends batches one by one, and makes them durable in groups.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

use crate::batch::{Amount, Batch};
use crate::disk::{Disk, LogFile, sync_directory};
use crate::flusher::{Job, Signals};
use crate::layout::{self, Generation};
use crate::log::{self, Salt};
use crate::memory::{Mark, Memory};
use crate::place::{Place, file_identity};
use crate::settings::StoreSettings;
use crate::tally::{Counters, count};

/// A request to the writer.
#[derive(Debug)]
pub(crate) enum Command {
    /// Store these rows.
    Keep(Box<Batch>),
    /// Make everything before durable, then answer.
    Sync(SyncSender<()>),
}

/// Writes the log, in its own thread.
pub(crate) struct Writer {
    pub(crate) settings: StoreSettings,
    pub(crate) disk: Box<dyn Disk>,
    pub(crate) commands: Receiver<Command>,
    pub(crate) place: Arc<Place>,
    /// Rows of lost logs, until the flusher takes them.
    pub(crate) rescued: VecDeque<Job>,
    pub(crate) watched_at: Instant,
    /// Rows queued in `commands`.
    pub(crate) waiting_rows: Arc<AtomicUsize>,
    pub(crate) jobs: SyncSender<Job>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) signals: Arc<Signals>,
    pub(crate) next_generation: Generation,
    pub(crate) open: Option<OpenLog>,
}

/// The current log and its rows.
pub(crate) struct OpenLog {
    file: Box<dyn LogFile>,
    generation: Generation,
    salt: Salt,
    /// The file in its directory, and the directory's turn.
    path: PathBuf,
    identity: (u64, u64),
    turn: u64,
    memory: Memory,
    began: Instant,
    /// Durable reports.
    reports: u64,
    group: Group,
    /// Durable bytes.
    durable_bytes: u64,
    /// The state of the file is unknown.
    is_broken: bool,
}

/// What was written but may not be durable.
#[derive(Debug)]
struct Group {
    amount: Amount,
    rows: usize,
    bytes: u64,
    /// The durable rows.
    durable: Mark,
    began: Instant,
}

impl Group {
    /// A group without rows, after the durable ones.
    fn begin(durable: Mark) -> Self {
        Self { amount: Amount::default(), rows: 0, bytes: 0, durable, began: Instant::now() }
    }
}

impl Writer {
    /// Runs until the store closes.
    pub(crate) fn run(mut self) {
        let mut frames = Vec::new();
        loop {
            match self.commands.recv_timeout(self.patience()) {
                Ok(Command::Keep(batch)) => {
                    self.waiting_rows.fetch_sub(batch.weight(), Ordering::AcqRel);
                    self.keep(*batch, &mut frames);
                }
                Ok(Command::Sync(answer)) => {
                    self.sync();
                    // The caller may have gone.
                    let _ = answer.try_send(());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.watch();
            self.sync_if_due();
            self.rotate_if_due();
        }
        self.sync();
        self.hand_over(true);
        for job in std::mem::take(&mut self.rescued) {
            // The flusher ends only after the writer, so the job arrives.
            let _ = self.jobs.send(job);
        }
    }

    /// Checks a few times a second whether the log is still in its place.
    fn watch(&mut self) {
        if self.watched_at.elapsed() < WATCH_EVERY {
            return;
        }
        self.watched_at = Instant::now();
        if !self.is_in_place() {
            self.rescue();
        }
        while let Some(job) = self.rescued.pop_front() {
            if let Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) = self.jobs.try_send(job) {
                self.rescued.push_front(job);
                break;
            }
        }
    }

    /// Whether the directory can be written and contains the open log.
    fn is_in_place(&self) -> bool {
        let is_held = self.place.watch();
        self.open.as_ref().is_none_or(|open| {
            let is_there = file_identity(&open.path).is_ok_and(|identity| identity == open.identity);
            is_held && is_there && open.turn == self.place.turn()
        })
    }

    /// Keeps the rows of a lost log, which are still in memory, for the flusher.
    fn rescue(&mut self) {
        let Some(open) = self.open.take() else { return };
        let OpenLog { generation, memory, turn, reports: stored, group, .. } = open;
        if self.rescued.len() < MAX_RESCUED {
            let (waiting, is_damaged) = (group.amount, false);
            self.rescued.push_back(Job { generation, memory, turn, stored, waiting, is_damaged });
        } else {
            self.counters.fail(group.amount);
        }
    }

    /// How long nothing needs to be done.
    fn patience(&self) -> Duration {
        match &self.open {
            Some(open) if open.group.bytes > 0 => {
                self.settings.sync_after.saturating_sub(open.group.began.elapsed())
            }
            _ => IDLE,
        }
    }

    fn keep(&mut self, batch: Batch, frames: &mut Vec<u8>) {
        let (amount, rows) = (batch.amount(), batch.weight());
        if !self.make_room() {
            return self.counters.fail(amount);
        }
        let Ok(open) = self.open_log() else {
            return self.counters.fail(amount);
        };
        frames.clear();
        if log::encode(&batch, open.salt, frames).is_err() {
            return self.counters.fail(amount);
        }
        if open.group.bytes == 0 {
            open.group.began = Instant::now();
        }
        open.group.amount += amount;
        open.group.rows += rows;
        open.group.bytes += frames.len() as u64;
        match open.file.append(frames) {
            Ok(()) => {
                let columns = open.memory.add(batch);
                self.signals.give_columns(columns);
            }
            Err(_) => self.roll_back(),
        }
    }

    /// Passes a full log to the flusher; `false` if it cannot, and will not soon.
    fn make_room(&mut self) -> bool {
        while self.open.as_ref().is_some_and(|open| open.memory.len() >= self.settings.segment_rows) {
            self.sync();
            if self.hand_over(false) {
                return true;
            }
            if self.signals.is_failing.load(Ordering::Acquire) {
                return false;
            }
            // Batches queue up meanwhile, and are shed when the queue is full.
            thread::sleep(PAUSE);
        }
        true
    }

    fn open_log(&mut self) -> io::Result<&mut OpenLog> {
        let open = match self.open.take() {
            Some(open) => open,
            None => self.create_log()?,
        };
        Ok(self.open.insert(open))
    }

    fn create_log(&mut self) -> io::Result<OpenLog> {
        let generation = self.next_generation;
        let path = layout::log_file(&self.settings.path, generation);
        if !self.find_place() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let turn = self.place.turn();
        self.next_generation += 1;
        let mut file = self.disk.create(&path)?;
        let salt = Salt::draw();
        let header = log::header(salt);
        let begun = file
            .append(&header)
            .and_then(|()| file.sync())
            .and_then(|()| sync_directory(&self.log_directory()))
            .and_then(|()| file_identity(&path));
        let identity = match begun {
            Ok(identity) => identity,
            Err(error) => {
                // An empty log does no harm; the first error is the one to report.
                let _ = fs::remove_file(&path);
                return Err(error);
            }
        };
        let now = Instant::now();
        let spare = self.signals.spare.lock().ok().and_then(|mut spare| spare.take());
        Ok(OpenLog {
            file,
            generation,
            salt,
            path,
            identity,
            turn,
            memory: spare.unwrap_or_default(),
            began: now,
            reports: 0,
            group: Group::begin(Mark::default()),
            durable_bytes: header.len() as u64,
            is_broken: false,
        })
    }

    /// Waits some seconds for a directory that is missing: it may be back, or recreated, in a moment. Batches
    /// queue up meanwhile.
    fn find_place(&self) -> bool {
        loop {
            if self.place.watch() {
                return true;
            }
            if self.place.missing_for() >= MISSING_PATIENCE {
                return false;
            }
            thread::sleep(MISSING_PAUSE);
        }
    }

    fn log_directory(&self) -> PathBuf {
        layout::log_directory(&self.settings.path)
    }

    fn sync_if_due(&mut self) {
        let Some(open) = &self.open else { return };
        let waits = open.group.bytes > 0 && open.group.began.elapsed() >= self.settings.sync_after;
        let is_large = open.group.bytes >= MAX_GROUP_BYTES || open.group.rows >= MAX_GROUP_ROWS;
        if waits || is_large {
            self.sync();
        }
    }

    /// Makes everything written durable, and only then counts it as stored.
    fn sync(&mut self) {
        let Some(open) = &mut self.open else { return };
        if open.group.bytes == 0 {
            return;
        }
        if open.file.sync().is_err() {
            self.roll_back();
            return;
        }
        if !self.is_in_place() {
            return self.rescue();
        }
        let Some(open) = &mut self.open else { return };
        open.durable_bytes += open.group.bytes;
        open.reports += open.group.amount.reports;
        count(&self.counters.stored, open.group.amount.reports);
        open.group = Group::begin(open.memory.mark());
    }

    /// Discards what is not durable.
    fn roll_back(&mut self) {
        let Some(open) = &mut self.open else { return };
        self.counters.fail(open.group.amount);
        open.memory.cut(open.group.durable);
        open.group = Group::begin(open.group.durable);
        // Bytes after an incomplete frame would be lost at the next start, so the log ends here if they
        // cannot be cut off.
        open.is_broken = open.file.cut(open.durable_bytes).and_then(|()| open.file.sync()).is_err();
        if open.is_broken {
            self.hand_over(true);
        }
    }

    fn rotate_if_due(&mut self) {
        let Some(open) = &self.open else { return };
        if open.is_broken || (!open.memory.is_empty() && open.began.elapsed() >= self.settings.segment_after)
        {
            self.sync();
            self.hand_over(false);
        }
    }

    /// Passes the log to the flusher; `false` if it is busy. The job contains only durable rows.
    fn hand_over(&mut self, wait: bool) -> bool {
        let Some(mut open) = self.open.take() else { return true };
        if open.memory.is_empty() {
            let path = layout::log_file(&self.settings.path, open.generation);
            // An empty log does no harm.
            let _ = fs::remove_file(path);
            return true;
        }
        let memory = std::mem::take(&mut open.memory);
        let OpenLog { generation, turn, reports: stored, .. } = open;
        let (waiting, is_damaged) = (Amount::default(), false);
        let job = Job { generation, memory, turn, stored, waiting, is_damaged };
        if wait {
            // The flusher ends only after the writer, so the job arrives.
            return self.jobs.send(job).is_ok();
        }
        match self.jobs.try_send(job) {
            Ok(()) => true,
            Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) => {
                open.memory = job.memory;
                self.open = Some(open);
                false
            }
        }
    }
}

/// How long to wait when idle.
const IDLE: Duration = WATCH_EVERY;
/// How often the directory is checked.
const WATCH_EVERY: Duration = Duration::from_millis(200);
/// How long a batch waits for a directory since it is missing, and the pause between two attempts.
const MISSING_PATIENCE: Duration = Duration::from_secs(3);
const MISSING_PAUSE: Duration = Duration::from_millis(20);
/// Maximum lost logs whose rows are kept in memory.
const MAX_RESCUED: usize = 2;
/// Pause between attempts to reach the flusher.
const PAUSE: Duration = Duration::from_millis(2);
/// Rows after which a group is made durable early: callers may be waiting for room.
const MAX_GROUP_ROWS: usize = 131_072;
/// Bytes after which a group is made durable early.
const MAX_GROUP_BYTES: u64 = 8 << 20;
