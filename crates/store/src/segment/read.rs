//! Reads a segment: a row group at a time, and of it only the columns that are asked for.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use inband_model::table::{Kind, OLDEST_SCHEMA_VERSION, SCHEMA_VERSION, Shape};
use parquet::basic::Type as Physical;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::statistics::Statistics;

use super::checksums::CHUNKS_KEY;
use super::checksums::{self, Seal};
use super::clocks::{self, Clock};
use super::decode::{Layout, decode};
use super::file::MAGIC;
use super::format::VERSION_KEY;
use crate::error::StoreError;
use crate::history::ColumnData;

/// An open segment.
pub(crate) struct SegmentReader {
    file: File,
    metadata: ParquetMetaData,
    /// Checksums of the chunks, row group by row group; `None` in files of earlier versions.
    checksums: Option<Vec<u32>>,
    has_magic: bool,
    /// Where each column of the table stands in the file.
    places: Vec<Option<usize>>,
    kinds: Vec<Kind>,
    names: Vec<&'static str>,
    /// Where the offsets of each column stand that the file has as offsets.
    offsets: Vec<Option<(Clock, usize)>>,
    /// Where the delays of reports stand, which offsets are to be read with.
    delays: Option<usize>,
}

impl SegmentReader {
    /// Opens a segment of a table; a column that an older program did not write reads as missing.
    pub(crate) fn open(path: &Path, shape: &Shape) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::io("open", path))?;
        Self::read(file, shape).map_err(|fault| match fault {
            Fault::Damaged(cause) => {
                StoreError::Damaged { path: path.to_owned(), place: "footer".to_owned(), cause }
            }
            Fault::Refused(error) => StoreError::segment("read", path)(error),
        })
    }

    fn read(file: File, shape: &Shape) -> Result<Self, Fault> {
        let (footer, has_magic) = read_footer(&file)?;
        let seal = checksums::check(&footer);
        if seal == Seal::Broken {
            return Err(Fault::Damaged("its checksum is wrong".to_owned()));
        }
        let metadata = ParquetMetaDataReader::decode_metadata(&footer[..footer.len() - LENGTH_BYTES])
            .map_err(|error| Fault::Damaged(error.to_string()))?;
        let pair = |key: &str| {
            let pairs = metadata.file_metadata().key_value_metadata()?;
            pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
        };
        let version = pair(VERSION_KEY);
        let number = version.and_then(|version| version.parse().ok());
        if !number.is_some_and(|number| (OLDEST_SCHEMA_VERSION..=SCHEMA_VERSION).contains(&number)) {
            let version = version.unwrap_or("none");
            let error = format!(
                "schema version {version}, this program reads {OLDEST_SCHEMA_VERSION} to {SCHEMA_VERSION}"
            );
            return Err(Fault::Refused(ParquetError::General(error)));
        }
        let columns = metadata.file_metadata().schema_descr().columns();
        let place = |name: &str| columns.iter().position(|column| column.name() == name);
        let places = shape.columns.iter().map(|(name, ..)| place(name)).collect();
        let offset = |name: &str| {
            let clock = Clock::of(name)?;
            place(name).is_none().then(|| place(clock.offset())).flatten().map(|place| (clock, place))
        };
        let offsets = shape.columns.iter().map(|(name, ..)| offset(name)).collect();
        let delays = place(clocks::DELAY);
        let kinds = shape.columns.iter().map(|(_, kind, ..)| *kind).collect();
        let names = shape.columns.iter().map(|(name, ..)| *name).collect();
        let chunks = columns.len() * metadata.num_row_groups();
        let checksums = match seal {
            Seal::Absent => None,
            _ => {
                let checksums = pair(CHUNKS_KEY).and_then(checksums::parse);
                let fitting = checksums.filter(|checksums| checksums.len() == chunks);
                Some(fitting.ok_or_else(|| Fault::Damaged("it lacks checksums".to_owned()))?)
            }
        };
        Ok(Self { file, metadata, checksums, has_magic, places, kinds, names, offsets, delays })
    }

    /// Whether the file begins and ends as Parquet files do.
    pub(crate) fn has_magic(&self) -> bool {
        self.has_magic
    }

    /// Whether what is read is known to be what was written.
    pub(crate) fn is_verified(&self) -> bool {
        self.checksums.is_some()
    }

    pub(crate) fn row_groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// The name of a column of the table.
    pub(crate) fn name(&self, column: usize) -> &'static str {
        self.names.get(column).copied().unwrap_or_default()
    }

    /// Rows of a row group.
    pub(crate) fn rows(&self, group: usize) -> usize {
        usize::try_from(self.metadata.row_group(group).num_rows()).unwrap_or(0)
    }

    /// The least and the greatest number of a column in a row group; `None` when that is not known.
    pub(crate) fn integer_bounds(&self, group: usize, column: usize) -> Option<(i64, i64)> {
        match self.statistics(group, column)? {
            Statistics::Int64(bounds) => Some((*bounds.min_opt()?, *bounds.max_opt()?)),
            _ => None,
        }
    }

    /// The least and the greatest text of a column in a row group, or prefixes of them.
    pub(crate) fn text_bounds(&self, group: usize, column: usize) -> Option<(&[u8], &[u8])> {
        match self.statistics(group, column)? {
            Statistics::ByteArray(bounds) if bounds.max_is_exact() => {
                Some((bounds.min_opt()?.data(), bounds.max_opt()?.data()))
            }
            _ => None,
        }
    }

    /// Whether a row may have no value in a column.
    pub(crate) fn may_miss(&self, column: usize) -> bool {
        let columns = self.metadata.file_metadata().schema_descr();
        self.places[column].is_none_or(|place| columns.column(place).max_def_level() > 0)
    }

    fn statistics(&self, group: usize, column: usize) -> Option<&Statistics> {
        self.metadata.row_group(group).column(self.places[column]?).statistics()
    }

    /// The values of a column in a row group.
    pub(crate) fn column(&self, group: usize, column: usize) -> Result<ColumnData, ParquetError> {
        self.first_of_column(group, column, usize::MAX)
    }

    /// The values of a column in the first rows of a row group.
    pub(crate) fn first_of_column(
        &self,
        group: usize,
        column: usize,
        rows: usize,
    ) -> Result<ColumnData, ParquetError> {
        let rows = rows.min(self.rows(group));
        match (self.offsets[column], self.places[column]) {
            (Some((clock, place)), _) => self.timestamps(group, clock, place, rows),
            (None, Some(place)) => self.stored(group, place, self.kinds[column], rows),
            (None, None) => Ok(ColumnData::missing(self.kinds[column], rows)),
        }
    }

    /// Timestamps of a node's clock, which stand as offsets in the file.
    fn timestamps(
        &self,
        group: usize,
        clock: Clock,
        place: usize,
        rows: usize,
    ) -> Result<ColumnData, ParquetError> {
        let offsets = self.stored(group, place, Kind::Integer, rows)?;
        let column = |name: &str| {
            let column = self.names.iter().position(|known| *known == name);
            column.map_or_else(
                || Ok(ColumnData::missing(Kind::Integer, rows)),
                |column| self.first_of_column(group, column, rows),
            )
        };
        let delays = match self.delays {
            Some(place) => self.stored(group, place, Kind::Integer, rows)?,
            None => ColumnData::missing(Kind::Integer, rows),
        };
        let anchors = clocks::anchors(&column("time")?, delays);
        Ok(match clock {
            Clock::Egress => clocks::egress(&anchors, offsets),
            Clock::Ingress => {
                clocks::ingress(&anchors, &column("egress_timestamp")?, &column("hop_latency")?, offsets)
            }
        })
    }

    /// The values of a column of the file in the first rows of a row group.
    fn stored(
        &self,
        group: usize,
        place: usize,
        kind: Kind,
        wanted: usize,
    ) -> Result<ColumnData, ParquetError> {
        let rows = self.rows(group);
        let about = self.metadata.row_group(group).column(place);
        let expected = match kind {
            Kind::Time | Kind::Integer => Physical::INT64,
            Kind::Flag => Physical::BOOLEAN,
            Kind::Text => Physical::BYTE_ARRAY,
        };
        if about.column_type() != expected {
            return Err(ParquetError::General("a column has another type than its table says".into()));
        }
        let (start, length) =
            chunk_range(about.data_page_offset(), about.dictionary_page_offset(), about.compressed_size())
                .filter(|(_, length)| *length <= MAX_CHUNK_BYTES)
                .ok_or_else(|| ParquetError::General("the place of a column cannot be read".into()))?;
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        let checksum = self.checksums.as_ref().map(|all| all[group * self.columns() + place]);
        if checksum.is_some_and(|checksum| checksum != crc32fast::hash(&bytes)) {
            return Err(ParquetError::General("its checksum is wrong".into()));
        }
        let is_optional = about.column_descr().max_def_level() > 0;
        let layout = Layout { kind, is_optional, compression: about.compression(), rows, wanted };
        decode(&bytes, layout)
    }

    /// The values of a column in some rows of a row group.
    pub(crate) fn part_of_column(
        &self,
        group: usize,
        column: usize,
        rows: Range<usize>,
    ) -> Result<ColumnData, ParquetError> {
        Ok(self.first_of_column(group, column, rows.end)?.pick(rows))
    }

    fn columns(&self) -> usize {
        self.metadata.file_metadata().schema_descr().num_columns()
    }
}

/// Why a segment is not read.
enum Fault {
    /// Its footer is damaged.
    Damaged(String),
    /// It is whole, and not for this program.
    Refused(ParquetError),
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}

/// The footer with its length behind it, and whether the magic is at both ends of the file.
fn read_footer(file: &File) -> Result<(Vec<u8>, bool), Fault> {
    let cut = || Fault::Damaged("it is cut off or damaged".to_owned());
    let length = file.metadata()?.len();
    let tail = length.checked_sub((LENGTH_BYTES + MAGIC.len()) as u64).ok_or_else(cut)?;
    let mut end = [0; LENGTH_BYTES + MAGIC.len()];
    file.read_exact_at(&mut end, tail)?;
    let [a, b, c, d, magic @ ..] = end;
    let footer = u32::from_le_bytes([a, b, c, d]);
    let start =
        tail.checked_sub(footer.into()).filter(|start| *start >= MAGIC.len() as u64).ok_or_else(cut)?;
    let room = usize::try_from(tail - start).map_err(|_| cut())? + LENGTH_BYTES;
    let (mut bytes, mut begin) = (vec![0; room], [0; MAGIC.len()]);
    file.read_exact_at(&mut bytes, start)?;
    file.read_exact_at(&mut begin, 0)?;
    Ok((bytes, begin == *MAGIC && magic == *MAGIC))
}

/// Where a chunk begins, and how long it is.
fn chunk_range(data: i64, dictionary: Option<i64>, length: i64) -> Option<(u64, usize)> {
    let start = dictionary.filter(|start| *start > 0).map_or(data, |start| start.min(data));
    Some((u64::try_from(start).ok()?, usize::try_from(length).ok()?))
}

/// Bytes of the length behind a footer.
const LENGTH_BYTES: usize = 4;
/// Bytes of a column chunk, at most.
const MAX_CHUNK_BYTES: usize = 512 << 20;
