//! Merging of roll-ups after an hour: many files with a row per key become one file with one row per key.
//!
//! The new file is named after its first and last generation, and replaces their files as soon as it has that
//! name: readers ignore files that another one covers. A crash at any point loses nothing and counts nothing
//! twice. Replaced files are renamed at once, found under that name by questions that had listed them, and
//! removed later.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use inband_model::table::{HOURS, Kind, Shape, TOTALS};

use crate::civil::Hour;
use crate::error::StoreError;
use crate::flusher::Signals;
use crate::footers::Footers;
use crate::history::{ColumnData, Texts, Value};
use crate::layout::{self, SegmentFile};
use crate::place::Place;
use crate::retention::remove_empty;
use crate::segment::{BY_PLACE_ROWS, SegmentReader, write_columns};
use crate::settings::StoreSettings;
use crate::sketch::Sketch;
use crate::source::integer;
use crate::tally::{Counters, count};
use crate::today::Today;

/// Merges roll-ups in its own thread.
pub(crate) struct Merger {
    pub(crate) settings: StoreSettings,
    pub(crate) place: Arc<Place>,
    pub(crate) signals: Arc<Signals>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) today: Today,
    /// Disconnected when the store closes.
    pub(crate) closing: Receiver<()>,
    /// Hours with several files, by table.
    pub(crate) waiting: HashMap<(&'static str, Hour), Waiting>,
    /// Replaced files, and when they were first seen.
    pub(crate) replaced: HashMap<PathBuf, Instant>,
}

/// An hour with several files.
pub(crate) struct Waiting {
    files: usize,
    /// When that number was first seen; `None` if merging them failed.
    since: Option<Instant>,
}

impl Merger {
    /// Runs until the store closes.
    pub(crate) fn run(mut self) {
        while self.closing.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            if self.place.watch() {
                // A directory that cannot be listed is retried later.
                let _ = self.look();
            }
        }
    }

    fn look(&mut self) -> Result<(), StoreError> {
        let root = self.settings.path.clone();
        let first_log = layout::logs(&root)?.first().map(|(generation, _)| *generation);
        for shape in merged_tables() {
            for (hour, files) in hours(&root, &shape, first_log)? {
                if files.len() < 2 || hour.end() > self.today.now() {
                    continue;
                }
                let new = || Waiting { files: files.len(), since: Some(Instant::now()) };
                let waiting = self.waiting.entry((shape.name, hour)).or_insert_with(new);
                if waiting.files != files.len() {
                    *waiting = new();
                }
                if waiting.since.is_none_or(|since| since.elapsed() < QUIET) {
                    continue;
                }
                let is_closing = || self.signals.is_closing.load(atomic::Ordering::Acquire);
                match merge_hour(&shape, files, &is_closing) {
                    Ok(merged) => {
                        count(&self.counters.merged_segments, merged);
                        self.waiting.remove(&(shape.name, hour));
                    }
                    // A damaged file is left alone, so that each question reports what is missing.
                    Err(_) => waiting.since = None,
                }
            }
        }
        self.remove_replaced()
    }

    fn remove_replaced(&mut self) -> Result<(), StoreError> {
        let mut found = Vec::new();
        for shape in merged_tables() {
            // A crash may have come before they were renamed.
            for covered in layout::covered(&self.settings.path, shape.name)? {
                put_aside(&covered.path)?;
            }
            found.extend(layout::replaced(&self.settings.path, shape.name)?);
        }
        self.replaced.retain(|path, _| found.contains(path));
        for path in found {
            let since = self.replaced.entry(path.clone()).or_insert_with(Instant::now);
            if since.elapsed() >= GRACE {
                fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
                remove_empty(&self.settings.path, &path);
            }
        }
        Ok(())
    }
}

/// The tables that are merged to one file per hour.
pub(crate) fn merged_tables() -> [Shape; 2] {
    [HOURS.shape(), TOTALS.shape()]
}

/// The files of each hour of a table, without those whose rows are still in a log.
pub(crate) fn hours(
    root: &Path,
    shape: &Shape,
    first_log: Option<u64>,
) -> Result<Vec<(Hour, Vec<SegmentFile>)>, StoreError> {
    let mut files = layout::segments(root, shape.name)?;
    files.retain(|file| first_log.is_none_or(|first| file.generation < first));
    let alike = files.chunk_by(|one, next| one.hour == next.hour);
    Ok(alike.map(|files| (files[0].hour, files.to_vec())).collect())
}

/// Merges the files of one hour of a table until one is left; returns how many were replaced.
///
/// # Errors
/// A file is damaged or cannot be written, or the store closes.
pub(crate) fn merge_hour(
    shape: &Shape,
    mut files: Vec<SegmentFile>,
    is_closing: &dyn Fn() -> bool,
) -> Result<u64, StoreError> {
    let mut replaced = 0;
    while files.len() > 1 {
        let rest = files.split_off(files.len().min(MAX_AT_ONCE));
        replaced += files.len() as u64;
        let merged = merge(shape, &files, is_closing)?;
        files = std::iter::once(merged).chain(rest).collect();
    }
    Ok(replaced)
}

/// Merges consecutive files into one.
fn merge(
    shape: &Shape,
    files: &[SegmentFile],
    is_closing: &dyn Fn() -> bool,
) -> Result<SegmentFile, StoreError> {
    let rules = Rules::of(shape);
    let (mut sources, open) = (Vec::new(), Arc::default());
    for file in files {
        let segment = Footers::default().open(&file.path, shape, &open)?;
        sources.push(Source::new(segment, file.path.clone(), &rules)?);
    }
    let first = files.iter().map(|file| file.first).min().unwrap_or_default();
    let last = files.iter().map(|file| file.generation).max().unwrap_or_default();
    let path = layout::merged_file(&files[0].path, first, last);
    write_columns(&path, shape, || {
        if is_closing() {
            return Err(StoreError::io("finish", &path)(ErrorKind::Interrupted.into()));
        }
        next_rows(&mut sources, &rules)
    })?;
    for file in files {
        put_aside(&file.path)?;
    }
    let bytes = fs::metadata(&path).map_or(0, |about| about.len());
    Ok(SegmentFile { hour: files[0].hour, first, generation: last, bytes, path })
}

/// Renames a replaced file, so that it is ignored.
fn put_aside(path: &Path) -> Result<(), StoreError> {
    let renamed = path.with_extension(layout::REPLACED);
    fs::rename(path, &renamed).map_err(StoreError::io("rename", path))
}

/// The next merged rows of all sources, in order; `None` at the end.
fn next_rows(sources: &mut [Source], rules: &Rules) -> Result<Option<Vec<ColumnData>>, StoreError> {
    let mut rows = Rows::new(rules);
    let mut open: Option<Vec<Part>> = None;
    loop {
        let mut least: Option<usize> = None;
        for at in 0..sources.len() {
            let is_less = |least: usize| compare(&sources[at], &sources[least], rules) == Ordering::Less;
            if !sources[at].is_at_end() && least.is_none_or(is_less) {
                least = Some(at);
            }
        }
        let Some(least) = least else { break };
        let is_same = open.as_ref().is_some_and(|open| rules.is_of(open, &sources[least]));
        match &mut open {
            Some(open) if is_same => rules.absorb(open, &sources[least]),
            _ => {
                if let Some(done) = open.take() {
                    rows.push(done, rules);
                    if rows.count == BY_PLACE_ROWS {
                        break;
                    }
                }
                open = Some(rules.begin(&sources[least]));
            }
        }
        sources[least].advance(rules)?;
    }
    if let Some(done) = open {
        rows.push(done, rules);
    }
    Ok((rows.count > 0).then(|| rows.columns()))
}

/// How the columns of rows with the same key are combined.
struct Rules {
    kinds: Vec<(Kind, Rule)>,
    /// The columns of the key, in sort order.
    keys: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Key,
    Sum,
    Max,
    Sketch,
    /// Thousandths, and the column of the sketch.
    Quantile(u64, usize),
}

impl Rules {
    fn of(shape: &Shape) -> Self {
        let sketch = shape.column("latency_sketch").unwrap_or_default();
        let rule = |name: &str| match name {
            "latency_p50" => Rule::Quantile(500, sketch),
            "latency_p90" => Rule::Quantile(900, sketch),
            "latency_p99" => Rule::Quantile(990, sketch),
            name if name.ends_with("_max") => Rule::Max,
            name if name.ends_with("_sketch") => Rule::Sketch,
            name if KEYS.contains(&name) => Rule::Key,
            _ => Rule::Sum,
        };
        let kinds = shape.columns.iter().map(|(name, kind, ..)| (*kind, rule(name))).collect();
        Self { kinds, keys: KEYS.iter().filter_map(|name| shape.column(name)).collect() }
    }

    /// Whether the source's current row has the open key.
    fn is_of(&self, open: &[Part], source: &Source) -> bool {
        let is_same = |key: &usize| match (&open[*key], source.value(*key)) {
            (Part::Number(Some(number)), Value::Integer(other)) => *number == other,
            (Part::Number(None), Value::Missing) => true,
            _ => false,
        };
        self.keys.iter().all(is_same)
    }

    fn begin(&self, source: &Source) -> Vec<Part> {
        let part = |column: usize| match source.value(column) {
            Value::Integer(number) => Part::Number(Some(number)),
            Value::Missing => Part::Number(None),
            Value::Text(text) => Part::Text(text.to_owned(), None),
        };
        (0..self.kinds.len()).map(part).collect()
    }

    /// Merges the source's current row into the open one.
    fn absorb(&self, open: &mut [Part], source: &Source) {
        for (column, (_, rule)) in self.kinds.iter().enumerate() {
            match (rule, &mut open[column], source.value(column)) {
                (Rule::Sum, Part::Number(sum), Value::Integer(more)) => {
                    *sum = Some(sum.unwrap_or(0).saturating_add(more));
                }
                (Rule::Max, Part::Number(most), Value::Integer(more)) => *most = (*most).max(Some(more)),
                (Rule::Sketch, Part::Text(text, sketch), Value::Text(more)) => {
                    let sketch = sketch.get_or_insert_with(|| Sketch::parse(text).unwrap_or_default());
                    sketch.merge(&Sketch::parse(more).unwrap_or_default());
                }
                _ => {}
            }
        }
    }
}

/// A value of the row that is being built.
enum Part {
    Number(Option<i64>),
    /// A text, and its sketch once others were merged into it.
    Text(String, Option<Sketch>),
}

/// Finished rows.
struct Rows {
    columns: Vec<Whole>,
    count: usize,
}

enum Whole {
    Numbers(Vec<Option<i64>>),
    Texts(Vec<Option<u32>>, Texts),
}

impl Rows {
    fn new(rules: &Rules) -> Self {
        let column = |(kind, _): &(Kind, Rule)| match kind {
            Kind::Text => Whole::Texts(Vec::new(), Texts::default()),
            _ => Whole::Numbers(Vec::new()),
        };
        Self { columns: rules.kinds.iter().map(column).collect(), count: 0 }
    }

    fn push(&mut self, mut row: Vec<Part>, rules: &Rules) {
        for (column, (_, rule)) in rules.kinds.iter().enumerate() {
            let Rule::Quantile(per_mille, of) = rule else { continue };
            if let Part::Text(_, Some(sketch)) = &row[*of] {
                row[column] = Part::Number(sketch.quantile(*per_mille).map(integer));
            }
        }
        for (column, part) in self.columns.iter_mut().zip(row) {
            match (column, part) {
                (Whole::Numbers(numbers), Part::Number(number)) => numbers.push(number),
                (Whole::Texts(codes, texts), Part::Text(text, sketch)) => {
                    codes.push(u32::try_from(texts.len()).ok());
                    texts.push(&sketch.map_or(text, |sketch| sketch.to_text()));
                }
                (Whole::Numbers(numbers), Part::Text(..)) => numbers.push(None),
                (Whole::Texts(codes, _), Part::Number(_)) => codes.push(None),
            }
        }
        self.count += 1;
    }

    fn columns(self) -> Vec<ColumnData> {
        let column = |whole| match whole {
            Whole::Numbers(numbers) => ColumnData::of_optional_integers(numbers.into_iter()),
            Whole::Texts(codes, words) => ColumnData::Texts { codes, words },
        };
        self.columns.into_iter().map(column).collect()
    }
}

/// A file that is read in key order, one row group at a time.
struct Source {
    segment: SegmentReader,
    path: PathBuf,
    columns: Vec<ColumnData>,
    /// The order of the current rows; `None`: as stored.
    order: Option<Vec<u32>>,
    rows: usize,
    row: usize,
    next_group: usize,
}

impl Source {
    fn new(segment: SegmentReader, path: PathBuf, rules: &Rules) -> Result<Self, StoreError> {
        let mut source =
            Self { segment, path, columns: Vec::new(), order: None, rows: 0, row: 0, next_group: 0 };
        if !source.is_sorted(rules)? {
            // Earlier versions wrote rows in a different order: such a file is sorted in memory.
            while source.next_group < source.segment.row_groups() {
                let group = source.read(source.next_group, rules)?;
                source.next_group += 1;
                match source.columns.is_empty() {
                    true => source.columns = group,
                    false => {
                        for (column, more) in source.columns.iter_mut().zip(&group) {
                            column.append(more, 0..more.len());
                        }
                    }
                }
            }
            source.rows = source.columns.first().map_or(0, ColumnData::len);
            let mut order: Vec<u32> = (0..u32::try_from(source.rows).unwrap_or(u32::MAX)).collect();
            order.sort_by(|one, other| source.compare_rows(*one as usize, *other as usize, rules));
            source.order = Some(order);
        }
        source.turn(rules)?;
        Ok(source)
    }

    /// Whether all rows are in ascending key order.
    fn is_sorted(&self, rules: &Rules) -> Result<bool, StoreError> {
        let mut last: Option<Vec<Option<i64>>> = None;
        for group in 0..self.segment.row_groups() {
            let keys: Vec<ColumnData> =
                rules.keys.iter().map(|key| self.column(group, *key)).collect::<Result<_, _>>()?;
            for row in 0..self.segment.rows(group) {
                let key: Vec<Option<i64>> = keys.iter().map(|key| key.integer(row)).collect();
                if last.is_some_and(|last| last > key) {
                    return Ok(false);
                }
                last = Some(key);
            }
        }
        Ok(true)
    }

    fn column(&self, group: usize, column: usize) -> Result<ColumnData, StoreError> {
        self.segment.column(group, column).map_err(StoreError::segment("read", &self.path))
    }

    fn read(&self, group: usize, rules: &Rules) -> Result<Vec<ColumnData>, StoreError> {
        (0..rules.kinds.len()).map(|column| self.column(group, column)).collect()
    }

    fn compare_rows(&self, one: usize, other: usize, rules: &Rules) -> Ordering {
        let value = |row: usize, key: usize| self.columns[key].value(row);
        let keys = rules.keys.iter().map(|key| value(one, *key).cmp(&value(other, *key)));
        keys.fold(Ordering::Equal, Ordering::then)
    }

    /// Loads the next row group if the current one has ended.
    fn turn(&mut self, rules: &Rules) -> Result<(), StoreError> {
        while self.row >= self.rows && self.next_group < self.segment.row_groups() {
            self.columns = self.read(self.next_group, rules)?;
            self.rows = self.segment.rows(self.next_group);
            self.row = 0;
            self.next_group += 1;
        }
        Ok(())
    }

    fn advance(&mut self, rules: &Rules) -> Result<(), StoreError> {
        self.row += 1;
        self.turn(rules)
    }

    fn is_at_end(&self) -> bool {
        self.row >= self.rows
    }

    fn value(&self, column: usize) -> Value<'_> {
        let row = self.order.as_ref().map_or(self.row, |order| order[self.row] as usize);
        self.columns[column].value(row)
    }
}

fn compare(one: &Source, other: &Source, rules: &Rules) -> Ordering {
    let keys = rules.keys.iter().map(|key| one.value(*key).cmp(&other.value(*key)));
    keys.fold(Ordering::Equal, Ordering::then)
}

/// The columns that identify and order rows, as far as a table has them.
const KEYS: [&str; 4] = ["node_id", "egress_interface", "queue_id", "time"];
/// Maximum files that are merged at once: one row group of each is in memory.
const MAX_AT_ONCE: usize = 16;
/// Time between two checks for hours to merge.
const LOOK_INTERVAL: Duration = Duration::from_secs(10);
/// An hour that is over is merged when no file has been added for this long.
const QUIET: Duration = Duration::from_secs(60);
/// How long replaced files are kept for questions that have listed them; no question takes as long.
const GRACE: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests;
