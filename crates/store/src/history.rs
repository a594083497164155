//! A snapshot of history: segments, and logs that are not yet segments.

mod chunk;
mod column;
mod sketches;
mod texts;

use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use inband_model::Nanos;
use inband_model::table::{
    BURSTS, EVENTS, FLOW_MINUTES, HOURS, LEDGER, LINK_MINUTES, MINUTES, OBSERVATIONS, PATHS, REPORTS,
    SECONDS, Shape, TOTALS, Table, shapes,
};

use crate::budget::Budget;
use crate::damage::{Damage, Findings, Notes};
use crate::decoded::{DecodedLogs, LogPart, LogRows};
use crate::error::StoreError;
use crate::footers::Footers;
use crate::layout::{self, Generation, SegmentFile};
use crate::listing::{Listing, Tables};
use crate::question::Limits;
use crate::range::TimeRange;
use crate::segment::{Found, Kept, OpenFiles, SegmentReader};
use crate::shortage::{Shortage, is_shortage};
use crate::sketch::PackedSketches;

pub use chunk::Chunk;
pub(crate) use column::ValueTest;
pub use column::{ColumnData, Value};
pub(crate) use sketches::Sketches;
pub use texts::Texts;

/// A snapshot of history. It locks nothing: a store may write and remove segments meanwhile.
#[derive(Debug, Clone)]
pub struct History {
    root: PathBuf,
    /// The listed segments of each table, in the order of `shapes`.
    tables: Tables,
    /// Segments from this generation on repeat the rows of logs, or contain later ones.
    first_log: Option<Generation>,
    /// The logs that are not yet segments, oldest first.
    logs: Arc<Vec<LogRows>>,
    notes: Notes,
    shortage: Shortage,
    footers: Arc<Footers>,
    files: Arc<OpenFiles>,
    /// Ends all questions when set.
    stop: Arc<AtomicBool>,
}

impl History {
    /// Takes a snapshot of the store in a directory.
    ///
    /// # Errors
    /// The directory has no store, or cannot be read.
    pub fn open(root: &Path) -> Result<History, StoreError> {
        History::open_noting(
            root,
            Notes::default(),
            &DecodedLogs::default(),
            &Listing::default(),
            &Arc::default(),
        )
    }

    /// Takes a snapshot, using cached logs, listings and footers, and records damage in `notes` too.
    pub(crate) fn open_noting(
        root: &Path,
        notes: Notes,
        decoded: &DecodedLogs,
        listing: &Listing,
        footers: &Arc<Footers>,
    ) -> Result<History, StoreError> {
        let logs = layout::log_directory(root);
        match fs::metadata(&logs) {
            Ok(found) if found.is_dir() => {}
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Err(StoreError::io("open", &logs)(error));
            }
            Ok(_) | Err(_) => return Err(StoreError::NoHistory(root.to_owned())),
        }
        for _ in 0..ATTEMPTS {
            if let Some(history) = History::attempt(root, &notes, decoded, listing, footers)? {
                return Ok(history);
            }
        }
        Err(StoreError::InUse(root.to_owned()))
    }

    /// `None` if a log has become segments meanwhile.
    fn attempt(
        root: &Path,
        notes: &Notes,
        decoded: &DecodedLogs,
        listing: &Listing,
        footers: &Arc<Footers>,
    ) -> Result<Option<History>, StoreError> {
        let logs = layout::logs(root)?;
        let mut rows = Vec::new();
        let mut damage = Vec::new();
        for (generation, path) in &logs {
            match decoded.read(*generation, path) {
                Ok((of_log, found)) => {
                    rows.push(of_log);
                    damage.extend(found);
                }
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) if is_shortage(&error) => return Err(StoreError::io("open", path)(error)),
                Err(error) => damage.push(Damage::new(path, "whole log", error, None)),
            }
        }
        let (tables, first_log) = (listing.tables(root)?, logs.first().map(|(generation, _)| *generation));
        damage.iter().for_each(|damage| notes.note(damage));
        let (root, logs, notes) = (root.to_owned(), Arc::new(rows), notes.clone());
        let (shortage, footers) = (Shortage::default(), Arc::clone(footers));
        let (files, stop) = (Arc::default(), Arc::default());
        Ok(Some(History { root, tables, first_log, logs, notes, shortage, footers, files, stop }))
    }

    /// Ends questions soon after `stop` is set, as if their time were up.
    pub fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.stop = stop;
    }

    /// The budget of a question.
    pub(crate) fn budget(&self, limits: Limits) -> Budget {
        Budget::until(limits, Arc::clone(&self.stop))
    }

    /// The same snapshot, recording the findings of one question.
    pub(crate) fn for_question(&self) -> History {
        History { notes: self.notes.for_question(), shortage: Shortage::default(), ..self.clone() }
    }

    /// Whether every segment could be opened, or is missing or damaged.
    ///
    /// # Errors
    /// There were too few descriptors or too little memory to read one: what was found is incomplete.
    pub(crate) fn check_shortage(&self) -> Result<(), StoreError> {
        self.shortage.check()
    }

    /// What reading has found so far: damaged parts are left out of every answer.
    #[must_use]
    pub fn findings(&self) -> Findings {
        self.notes.findings()
    }

    /// Reads everything; returns the damage.
    #[must_use]
    pub fn check(&self) -> Findings {
        for shape in shapes() {
            let columns: Vec<usize> = (0..shape.columns.len()).collect();
            // A table that cannot be listed has nothing to check.
            for chunk in self.chunks(&shape, TimeRange::ALL).unwrap_or_default() {
                for column in &columns {
                    drop(self.column(&chunk, *column));
                    drop(self.packed_sketches(&chunk, *column));
                }
            }
        }
        self.findings()
    }

    /// The values of a column; `None`, with a note, if they are damaged.
    pub(crate) fn column(&self, chunk: &Chunk, column: usize) -> Option<ColumnData> {
        self.noted(chunk, column, chunk.column(column))
    }

    /// The values of a column in its first `rows` rows, or in more; `None`, with a note, if they are damaged.
    pub(crate) fn first_of_column(
        &self,
        chunk: &Chunk,
        column: usize,
        rows: usize,
        kept: &mut Kept,
    ) -> Option<ColumnData> {
        self.noted(chunk, column, chunk.first_of_column(column, rows, kept))
    }

    /// The values of a column in some rows, which are in ascending order, one after another; `None`, with a
    /// note, if they are damaged.
    pub(crate) fn rows_of_column(&self, chunk: &Chunk, column: usize, rows: &[u32]) -> Option<ColumnData> {
        self.rows_of_column_keeping(chunk, column, rows, &mut Kept::default())
    }

    /// Like `rows_of_column`, for one of several columns of the same rows.
    pub(crate) fn rows_of_column_keeping(
        &self,
        chunk: &Chunk,
        column: usize,
        rows: &[u32],
        kept: &mut Kept,
    ) -> Option<ColumnData> {
        self.noted(chunk, column, chunk.rows_of_column(column, rows, kept))
    }

    /// The sketches of a column in some rows, which are in ascending order; `None`, with a note, if they are
    /// damaged.
    pub(crate) fn sketches(&self, chunk: &Chunk, column: usize, rows: &[u32]) -> Option<Sketches> {
        match self.packed_sketches(chunk, column) {
            Some(packed) => Some(Sketches::Packed(packed)),
            None => Sketches::of(self.rows_of_column(chunk, column, rows)?),
        }
    }

    /// The packed sketches of a column; `None` if it has none, or, with a note, if they are damaged. Its
    /// texts are the same sketches.
    fn packed_sketches(&self, chunk: &Chunk, column: usize) -> Option<PackedSketches> {
        chunk.packed_sketches(column).unwrap_or_else(|error| {
            // An error of the system occurs again when the texts are read.
            if error.of_system().is_none() {
                self.notes.note(&Damage { rows: Some(0), ..chunk.damage(column, &error) });
            }
            None
        })
    }

    /// The rows, out of some in ascending order or all, whose value in a column passes a test. `None`, with a
    /// note, if the column is damaged; `Some(None)` if its values must be read to tell.
    pub(crate) fn rows_with(
        &self,
        chunk: &Chunk,
        column: usize,
        among: Option<&[u32]>,
        test: ValueTest<'_>,
    ) -> Option<Option<Vec<u32>>> {
        self.noted(chunk, column, chunk.rows_with(column, among, test))
    }

    /// The values of a column in a range of rows; `None`, with a note, if they are damaged.
    pub(crate) fn part_of_column(
        &self,
        chunk: &Chunk,
        column: usize,
        rows: Range<usize>,
    ) -> Option<ColumnData> {
        self.noted(chunk, column, chunk.part_of_column(column, rows))
    }

    fn noted<T>(&self, chunk: &Chunk, column: usize, read: Result<T, StoreError>) -> Option<T> {
        let note = |error: StoreError| match error.of_system() {
            // Retention has removed it meanwhile.
            Some(cause) if cause.kind() == ErrorKind::NotFound => {}
            Some(cause) if self.shortage.note(chunk.file(), cause) => {}
            _ => self.notes.note(&chunk.damage(column, &error)),
        };
        read.map_err(note).ok()
    }

    /// The directory of the store.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Bytes of all segments.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.tables.iter().flat_map(|files| self.valid(files)).map(SegmentFile::bytes).sum()
    }

    /// Start of the oldest hour in segments; `None` if there are none.
    #[must_use]
    pub fn oldest(&self) -> Option<Nanos> {
        self.tables.iter().flat_map(|files| self.valid(files)).map(|file| file.hour.start()).min()
    }

    /// Start of a table's oldest hour in segments; `None` if there are none.
    #[must_use]
    pub fn oldest_of(&self, table: &str) -> Option<Nanos> {
        let index = shapes().iter().position(|shape| shape.name == table)?;
        self.valid(&self.tables[index]).map(|file| file.hour.start()).min()
    }

    /// The segments whose rows are in no log.
    fn valid<'a>(&self, files: &'a [SegmentFile]) -> impl Iterator<Item = &'a SegmentFile> {
        let first_log = self.first_log;
        files.iter().filter(move |file| first_log.is_none_or(|first| file.generation < first))
    }

    /// Number of rows of a table, at most; a segment that cannot be opened counts as large.
    #[must_use]
    pub fn rows(&self, table: &Shape) -> usize {
        self.chunks(table, TimeRange::ALL).map_or(usize::MAX, |chunks| chunks.iter().map(Chunk::rows).sum())
    }

    /// The parts of a table that can be read separately, oldest first, without those outside `range`.
    ///
    /// A damaged segment is skipped and noted; one that retention has removed meanwhile is skipped.
    ///
    /// # Errors
    /// A segment has a different schema version, or there are too few descriptors or too little memory.
    pub fn chunks(&self, table: &Shape, range: TimeRange) -> Result<Vec<Chunk>, StoreError> {
        let mut chunks = Vec::new();
        let Some(index) = shapes().iter().position(|shape| shape.name == table.name) else {
            return Ok(chunks);
        };
        let all: Vec<&SegmentFile> = self.valid(&self.tables[index]).collect();
        let is_within = |file: &SegmentFile| file.hour.end() > range.from && file.hour.start() <= range.to;
        let (numbers, files): (Vec<usize>, Vec<&SegmentFile>) =
            all.iter().enumerate().filter(|(_, file)| is_within(file)).unzip();
        for ((number, file), opened) in numbers.into_iter().zip(&files).zip(self.open_all(&files, table)) {
            match opened {
                Ok(segment) => {
                    if !segment.has_magic() {
                        let cause = "it does not begin and end as Parquet files do";
                        self.notes.note(&Damage::new(&file.path, "magic", cause, Some(0)));
                    }
                    if !segment.is_verified() {
                        self.notes.note_unverified(&file.path);
                    }
                    if !segment.may_hold_times(range) {
                        continue;
                    }
                    let groups = Chunk::of_segment(segment).into_iter().enumerate();
                    let groups = groups.map(|(index, chunk)| chunk.numbered(number, index));
                    chunks.extend(groups.filter(|chunk| chunk.may_hold_times(range)));
                }
                Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
                Err(StoreError::Damaged { path, place, cause }) => {
                    self.notes.note(&Damage::new(&path, place, cause, None));
                }
                Err(StoreError::Io { path, source, .. }) if !is_shortage(&source) => {
                    self.notes.note(&Damage::new(&path, "whole segment", source, None));
                }
                Err(error) => return Err(error),
            }
        }
        let in_memory = self.rows_in_memory(table.name).into_iter().enumerate();
        chunks.extend(in_memory.map(|(index, chunk)| chunk.numbered(all.len(), index)));
        Ok(chunks)
    }

    /// Opens segments, in parallel if there are many, as each may wait for the disk.
    fn open_all(&self, files: &[&SegmentFile], table: &Shape) -> Vec<Result<SegmentReader, StoreError>> {
        let open = |files: &[&SegmentFile]| {
            let unknown = files.iter().filter(|file| !self.footers.has(&file.path));
            unknown.for_each(|file| Found::announce(&file.path));
            files.iter().map(|file| self.footers.open(&file.path, table, &self.files)).collect::<Vec<_>>()
        };
        if files.len() < MANY_FILES || self.footers.has(&files[0].path) {
            return open(files);
        }
        let share = files.len().div_ceil(OPENERS);
        thread::scope(|scope| {
            let openers: Vec<_> = files.chunks(share).map(|files| scope.spawn(move || open(files))).collect();
            let opened = openers.into_iter().zip(files.chunks(share));
            // A panic of a thread has been printed; its files are opened here.
            opened.flat_map(|(opener, files)| opener.join().unwrap_or_else(|_| open(files))).collect()
        })
    }

    fn rows_in_memory(&self, table: &str) -> Vec<Chunk> {
        let chunks = |rows: &LogRows| match table {
            name if name == OBSERVATIONS.name => rows.parts.iter().flat_map(Chunk::of_hops).collect(),
            name if name == PATHS.name => of_parts(rows, &PATHS, |part| &part.memory.paths),
            name if name == EVENTS.name => of_parts(rows, &EVENTS, |part| &part.memory.events),
            name if name == LEDGER.name => of_parts(rows, &LEDGER, |part| &part.memory.ledger),
            name if name == REPORTS.name => of_parts(rows, &REPORTS, |part| &part.memory.evidence),
            name if name == MINUTES.name => Chunk::of_rows(&rows.minutes(), &MINUTES, |rows| rows),
            name if name == SECONDS.name => Chunk::of_rows(&Arc::new(rows.seconds()), &SECONDS, |rows| rows),
            name if name == BURSTS.name => Chunk::of_rows(&Arc::new(rows.bursts()), &BURSTS, |rows| rows),
            name if name == HOURS.name => Chunk::of_rows(&rows.hours(), &HOURS, |rows| rows),
            name if name == FLOW_MINUTES.name => {
                Chunk::of_rows(&rows.flow_minutes(), &FLOW_MINUTES, |rows| rows)
            }
            name if name == LINK_MINUTES.name => {
                Chunk::of_rows(&rows.link_minutes(), &LINK_MINUTES, |rows| rows)
            }
            name if name == TOTALS.name => Chunk::of_rows(&rows.totals(), &TOTALS, |rows| rows),
            _ => Vec::new(),
        };
        self.logs.iter().flat_map(chunks).collect()
    }
}

/// Rows of a log other than hops.
fn of_parts<R>(rows: &LogRows, table: &'static Table<R>, of: fn(&LogPart) -> &Vec<R>) -> Vec<Chunk> {
    rows.parts.iter().flat_map(|part| Chunk::of_rows(part, table, of)).collect()
}

/// Number of files from which threads open them, and number of those threads.
const MANY_FILES: usize = 16;
const OPENERS: usize = 4;
/// Attempts to take a snapshot while logs become segments.
const ATTEMPTS: usize = 100;
