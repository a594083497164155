//! Reading of segments: one row group at a time, and only the requested columns.

use std::cell::RefCell;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use inband_model::Nanos;
use inband_model::table::{Kind, Shape};
use parquet::basic::Type as Physical;
use parquet::errors::ParquetError;

use super::announce::announce;
use super::clocks::{self, Clock};
use super::decode::{Layout, decode, with_decompressed};
use super::footer::{Fault, Footer};
use super::found::Found;
use super::kept::Kept;
use super::open_files::OpenFiles;
use super::select::rows_with;
use crate::error::StoreError;
use crate::history::{ColumnData, ValueTest};
use crate::range::TimeRange;
use crate::sketch::PackedSketches;

/// A segment whose footer was read.
#[derive(Debug)]
pub(crate) struct SegmentReader {
    found: Found,
    footer: Arc<Footer>,
    files: Arc<OpenFiles>,
}

impl SegmentReader {
    /// Opens a segment of a table and reads its footer.
    #[cfg(test)]
    pub(crate) fn open(path: &Path, shape: &Shape) -> Result<Self, StoreError> {
        let (found, file) = Found::open(path).map_err(StoreError::io("open", path))?;
        let footer = Self::read_footer(&file, path, shape)?;
        Ok(Self::new(found, Arc::new(footer), Arc::default()))
    }

    /// Creates a reader from a known footer; the file stays open in `files` from one read to the next.
    pub(crate) fn new(found: Found, footer: Arc<Footer>, files: Arc<OpenFiles>) -> Self {
        Self { found, footer, files }
    }

    /// The name under which the file was listed.
    pub(crate) fn path(&self) -> &Path {
        self.found.path()
    }

    /// Reads the footer of an open file.
    pub(crate) fn read_footer(file: &File, path: &Path, shape: &Shape) -> Result<Footer, StoreError> {
        Footer::read(file, shape).map_err(|fault| match fault {
            Fault::Damaged(cause) => {
                StoreError::Damaged { path: path.to_owned(), place: "footer".to_owned(), cause }
            }
            Fault::Refused(error) => StoreError::segment("read", path)(error),
        })
    }

    /// Whether the file has the Parquet magic at both ends.
    pub(crate) fn has_magic(&self) -> bool {
        self.footer.has_magic
    }

    /// Whether the contents are protected by checksums.
    pub(crate) fn is_verified(&self) -> bool {
        self.footer.is_verified()
    }

    pub(crate) fn row_groups(&self) -> usize {
        self.footer.groups.len()
    }

    /// The name of a column of the table.
    pub(crate) fn name(&self, column: usize) -> &'static str {
        self.footer.names.get(column).copied().unwrap_or_default()
    }

    /// Number of rows of a row group.
    pub(crate) fn rows(&self, group: usize) -> usize {
        self.footer.groups[group]
    }

    /// Whether any row may have a time in a range, as far as known without reading.
    pub(crate) fn may_hold_times(&self, range: TimeRange) -> bool {
        let bound = |time: Nanos| i64::try_from(time.0).unwrap_or(i64::MAX);
        let may_hold = |(first, last)| first <= bound(range.to) && last >= bound(range.from);
        self.footer.times.is_none_or(may_hold)
    }

    /// The smallest and the largest number of a column in a row group; `None` if unknown.
    pub(crate) fn integer_bounds(&self, group: usize, column: usize) -> Option<(i64, i64)> {
        self.footer.integer_bounds(group, column)
    }

    /// The smallest and the largest text of a column in a row group, or prefixes of them.
    pub(crate) fn text_bounds(&self, group: usize, column: usize) -> Option<(&[u8], &[u8])> {
        self.footer.text_bounds(group, column)
    }

    /// Whether any row of a row group may lack a value in a column.
    pub(crate) fn misses(&self, group: usize, column: usize) -> bool {
        let footer = &self.footer;
        footer.places[column].is_none_or(|place| {
            footer.columns[place].is_optional && footer.chunk(group, place).0.missing != Some(0)
        })
    }

    /// Whether any row may lack a value in a column.
    pub(crate) fn may_miss(&self, column: usize) -> bool {
        self.footer.places[column].is_none_or(|place| self.footer.columns[place].is_optional)
    }

    /// Announces that columns of a row group will be read. Returns at once.
    pub(crate) fn announce(&self, group: usize, columns: &[usize]) {
        let Footer { offsets, places, delays, .. } = &*self.footer;
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        let mut add = |place: usize| {
            if let Some((start, length)) = self.footer.chunk(group, place).0.range {
                ranges.push((start, start.saturating_add(length as u64)));
            }
        };
        for column in columns {
            match offsets[*column] {
                Some((_, place)) => [Some(place), *delays].into_iter().flatten().for_each(&mut add),
                None => places[*column].into_iter().for_each(&mut add),
            }
        }
        ranges.sort_unstable();
        // One announcement for columns that are adjacent, or nearly so.
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
        for (start, end) in ranges {
            match joined.last_mut().filter(|(_, before)| start <= before.saturating_add(GAP_BYTES)) {
                Some((_, before)) => *before = end.max(*before),
                None => joined.push((start, end)),
            }
        }
        // A file that cannot be opened is noted when it is read.
        let Ok(file) = self.files.open(&self.found) else { return };
        joined.iter().for_each(|(start, end)| announce(&file, *start, end - start));
    }

    /// Announces that the sketches of a row group will be read. Returns at once.
    pub(crate) fn announce_sketches(&self, group: usize, column: usize) {
        let Some(place) = self.footer.packed(group, column) else { return self.announce(group, &[column]) };
        // A file that cannot be opened is noted when it is read.
        let Ok(file) = self.files.open(&self.found) else { return };
        announce(&file, place.start, place.stored as u64);
    }

    /// The packed sketches of a column in a row group; `None` if it has none.
    pub(crate) fn sketches(
        &self,
        group: usize,
        column: usize,
    ) -> Result<Option<PackedSketches>, ParquetError> {
        let Some(place) = self.footer.packed(group, column) else { return Ok(None) };
        let wrong = |what: &str| ParquetError::General(format!("its packed sketches: {what}"));
        let file = self.files.open(&self.found)?;
        with_room(place.stored, |bytes| {
            file.read_exact_at(bytes, place.start)?;
            if place.checksum != crc32fast::hash(bytes) {
                return Err(wrong("the checksum is wrong"));
            }
            let read = |plain: &[u8]| PackedSketches::read(plain, self.rows(group));
            with_decompressed(bytes, place.plain, read)?.map(Some).ok_or_else(|| wrong("they cannot be read"))
        })
    }

    /// What is kept of the same rows while these columns are read.
    pub(crate) fn kept_for(&self, columns: &[usize]) -> Kept {
        let Footer { offsets, names, .. } = &*self.footer;
        let is_base = |name: &str| clocks::BASES.contains(&name);
        Kept::of(match columns.iter().any(|column| offsets[*column].is_some()) {
            true => (0..names.len()).filter(|column| is_base(names[*column])).collect(),
            false => Vec::new(),
        })
    }

    /// The values of a column in a row group.
    pub(crate) fn column(&self, group: usize, column: usize) -> Result<ColumnData, ParquetError> {
        self.first_of_column(group, column, usize::MAX, &mut Kept::default())
    }

    /// The values of a column in the first rows of a row group.
    pub(crate) fn first_of_column(
        &self,
        group: usize,
        column: usize,
        rows: usize,
        kept: &mut Kept,
    ) -> Result<ColumnData, ParquetError> {
        self.read(group, column, rows, None, kept)
    }

    /// The values of a column in some rows of a row group, in ascending order, one after another.
    pub(crate) fn rows_of_column(
        &self,
        group: usize,
        column: usize,
        rows: &[u32],
        kept: &mut Kept,
    ) -> Result<ColumnData, ParquetError> {
        let end = rows.last().map_or(0, |last| *last as usize + 1);
        let few = if self.footer.kinds.get(column) == Some(&Kind::Text) { FEW_TEXTS } else { FEW };
        match rows.len() * few.1 <= end * few.0 {
            true => self.read(group, column, end, Some(rows), kept),
            false => Ok(self.read(group, column, end, None, kept)?.of_rows(rows)),
        }
    }

    fn read(
        &self,
        group: usize,
        column: usize,
        rows: usize,
        picked: Option<&[u32]>,
        kept: &mut Kept,
    ) -> Result<ColumnData, ParquetError> {
        if let Some(found) = kept.find(column) {
            return Ok(found.clone());
        }
        let rows = rows.min(self.rows(group));
        let Footer { offsets, places, kinds, .. } = &*self.footer;
        let read = match (offsets[column], places[column]) {
            (Some((clock, place)), _) => self.timestamps(group, clock, place, rows, picked, kept)?,
            (None, Some(place)) => self.stored(group, place, kinds[column], rows, picked)?,
            (None, None) => ColumnData::missing(kinds[column], picked.map_or(rows, <[u32]>::len)),
        };
        kept.keep(column, &read);
        Ok(read)
    }

    /// Timestamps of a node's clock, which the file stores as offsets.
    fn timestamps(
        &self,
        group: usize,
        clock: Clock,
        place: usize,
        rows: usize,
        picked: Option<&[u32]>,
        kept: &mut Kept,
    ) -> Result<ColumnData, ParquetError> {
        let offsets = self.stored(group, place, Kind::Integer, rows, picked)?;
        let missing = || ColumnData::missing(Kind::Integer, picked.map_or(rows, <[u32]>::len));
        let column = |name: &str, kept: &mut Kept| {
            let column = self.footer.names.iter().position(|known| *known == name);
            column.map_or_else(|| Ok(missing()), |column| self.read(group, column, rows, picked, kept))
        };
        let anchors = match &kept.anchors {
            Some(anchors) => Rc::clone(anchors),
            None => {
                let delays = match self.footer.delays {
                    Some(place) => self.stored(group, place, Kind::Integer, rows, picked)?,
                    None => missing(),
                };
                let anchors = Rc::new(clocks::anchors(&column("time", kept)?, delays));
                kept.anchors = Some(Rc::clone(&anchors));
                anchors
            }
        };
        Ok(match clock {
            Clock::Egress => clocks::egress(&anchors, offsets),
            Clock::Ingress => {
                let egress = column("egress_timestamp", kept)?;
                let latencies = column("hop_latency", kept)?;
                clocks::ingress(&anchors, &egress, &latencies, offsets)
            }
        })
    }

    /// The rows of a row group, out of some in ascending order or all, whose value in a column passes a test.
    /// `None` if the values must be read to tell.
    pub(crate) fn rows_with(
        &self,
        group: usize,
        column: usize,
        among: Option<&[u32]>,
        test: ValueTest<'_>,
    ) -> Result<Option<Vec<u32>>, ParquetError> {
        let Footer { offsets, places, kinds, .. } = &*self.footer;
        let (None, Some(place), kind) = (offsets[column], places[column], kinds[column]) else {
            return Ok(None);
        };
        match (kind, test) {
            (Kind::Time | Kind::Integer, ValueTest::Number(_) | ValueTest::Range(..))
            | (Kind::Text, ValueTest::Text(_)) => {}
            _ => return Ok(None),
        }
        self.with_bytes(group, place, kind, |bytes, layout| {
            rows_with(bytes, Layout { picked: among, ..layout }, test)
        })
    }

    /// The values of a column of the file in the first rows of a row group.
    fn stored(
        &self,
        group: usize,
        place: usize,
        kind: Kind,
        wanted: usize,
        picked: Option<&[u32]>,
    ) -> Result<ColumnData, ParquetError> {
        self.with_bytes(group, place, kind, |bytes, layout| {
            decode(bytes, Layout { wanted, picked, ..layout })
        })
    }

    /// Passes the bytes of a column of the file to `take`, with the layout of all rows.
    fn with_bytes<T>(
        &self,
        group: usize,
        place: usize,
        kind: Kind,
        take: impl FnOnce(&[u8], Layout<'static>) -> Result<T, ParquetError>,
    ) -> Result<T, ParquetError> {
        let rows = self.rows(group);
        let about = self.footer.columns[place];
        let expected = match kind {
            Kind::Time | Kind::Integer => Physical::INT64,
            Kind::Flag => Physical::BOOLEAN,
            Kind::Text => Physical::BYTE_ARRAY,
        };
        if about.physical != expected {
            return Err(ParquetError::General("a column has another type than its table says".into()));
        }
        let (chunk, checksum) = self.footer.chunk(group, place);
        let (start, length) = chunk
            .range
            .filter(|(_, length)| *length <= MAX_CHUNK_BYTES)
            .ok_or_else(|| ParquetError::General("the place of a column cannot be read".into()))?;
        let file = self.files.open(&self.found)?;
        with_room(length, |bytes| {
            file.read_exact_at(bytes, start)?;
            if checksum.is_some_and(|checksum| checksum != crc32fast::hash(bytes)) {
                return Err(ParquetError::General("its checksum is wrong".into()));
            }
            let (is_optional, compression) = (about.is_optional, chunk.compression);
            let is_sorted = self.footer.sorted == Some(place);
            take(
                bytes,
                Layout { kind, is_optional, is_sorted, compression, rows, wanted: rows, picked: None },
            )
        })
    }

    /// The values of a column in a range of rows of a row group.
    pub(crate) fn part_of_column(
        &self,
        group: usize,
        column: usize,
        rows: Range<usize>,
    ) -> Result<ColumnData, ParquetError> {
        Ok(self.first_of_column(group, column, rows.end, &mut Kept::default())?.pick(rows))
    }
}

/// Passes `length` bytes with any content to `take`; they are reused for all reads of the thread.
fn with_room<T>(length: usize, take: impl FnOnce(&mut [u8]) -> T) -> T {
    thread_local! {
        static OWN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    OWN.with_borrow_mut(|room| {
        if room.len() < length {
            room.resize(length, 0);
        }
        let taken = take(&mut room[..length]);
        if room.capacity() > MAX_ROOM_BYTES {
            *room = Vec::new();
        }
        taken
    })
}

/// Rows are read selectively if they are at most this share of those up to the last one.
const FEW: (usize, usize) = (1, 4);
const FEW_TEXTS: (usize, usize) = (3, 4);
/// Bytes between two columns that are announced together.
const GAP_BYTES: u64 = 16 << 10;
/// Maximum bytes of the buffer that a thread keeps.
const MAX_ROOM_BYTES: usize = 4 << 20;
/// Maximum bytes of a column chunk.
const MAX_CHUNK_BYTES: usize = 512 << 20;
