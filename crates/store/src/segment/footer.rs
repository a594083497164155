//! The footer of a segment in little memory: positions and bounds of the column chunks.

use std::fs::File;
use std::os::unix::fs::FileExt;

use inband_model::table::{Kind, OLDEST_SCHEMA_VERSION, SCHEMA_VERSION, Shape};
use parquet::basic::{Compression, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::statistics::Statistics;

use super::checksums::{self, CHUNKS_KEY, Seal};
use super::clocks::{self, Clock};
use super::file::MAGIC;
use super::format::VERSION_KEY;
use super::packed::{self, PACKED_KEY, PackedPlace};

/// The footer of a segment of a table.
#[derive(Debug)]
pub(crate) struct Footer {
    /// Rows of each row group.
    pub(super) groups: Vec<usize>,
    /// The columns of the file.
    pub(super) columns: Vec<FileColumn>,
    /// The chunks of all columns, row group by row group.
    chunks: Vec<ChunkPlace>,
    /// The column of the file in whose order the rows of each row group are, ascending; `None` if unknown.
    pub(super) sorted: Option<usize>,
    /// The first and the last time of all rows; `None` if unknown.
    pub(super) times: Option<(i64, i64)>,
    /// Checksums of the chunks; `None` for earlier versions.
    checksums: Option<Vec<u32>>,
    /// Where the packed sketches of each row group are; empty without them.
    packed: Vec<PackedPlace>,
    /// Whether the file has the Parquet magic at both ends.
    pub(super) has_magic: bool,
    /// Position in the file of each column of the table.
    pub(super) places: Vec<Option<usize>>,
    pub(super) kinds: Vec<Kind>,
    pub(super) names: Vec<&'static str>,
    /// Clock and position in the file of each column that is stored as offsets.
    pub(super) offsets: Vec<Option<(Clock, usize)>>,
    /// Position of the delays of reports, from which offsets are resolved.
    pub(super) delays: Option<usize>,
}

/// A column of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileColumn {
    pub(super) physical: Physical,
    pub(super) is_optional: bool,
}

/// A column chunk.
#[derive(Debug)]
pub(super) struct ChunkPlace {
    /// Offset and length; `None` if the footer contains no valid ones.
    pub(super) range: Option<(u64, usize)>,
    pub(super) compression: Compression,
    /// The number of missing values, if recorded.
    pub(super) missing: Option<u64>,
    bounds: Bounds,
}

/// The smallest and the largest value of a chunk, if recorded.
#[derive(Debug)]
enum Bounds {
    Unknown,
    Integers(i64, i64),
    Texts(Box<[Box<[u8]>; 2]>),
}

impl Footer {
    /// Reads the footer of a segment; columns that an older program did not write read as missing.
    pub(super) fn read(file: &File, shape: &Shape) -> Result<Self, Fault> {
        let (footer, has_magic) = read_footer(file)?;
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
        let offset = |name: &str| {
            let clock = Clock::of(name)?;
            place(name).is_none().then(|| place(clock.offset())).flatten().map(|place| (clock, place))
        };
        let count = columns.len() * metadata.num_row_groups();
        let checksums = match seal {
            Seal::Absent => None,
            _ => {
                let checksums = pair(CHUNKS_KEY).and_then(checksums::parse);
                let fitting = checksums.filter(|checksums| checksums.len() == count);
                Some(fitting.ok_or_else(|| Fault::Damaged("it lacks checksums".to_owned()))?)
            }
        };
        let packed = pair(PACKED_KEY).and_then(packed::parse);
        let packed = packed.filter(|places| places.len() == metadata.num_row_groups()).unwrap_or_default();
        let (groups, columns_of_group) = (groups(&metadata), columns.len());
        let chunks = chunks(&metadata, count)?;
        let times = place(shape.columns[TIME].0).and_then(|time| {
            let bounds = |group: usize| match chunks[group * columns_of_group + time].bounds {
                Bounds::Integers(first, last) => Some((first, last)),
                _ => None,
            };
            let all = (0..groups.len()).map(bounds).collect::<Option<Vec<_>>>()?;
            all.into_iter().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
        });
        let order = |group: &RowGroupMetaData| {
            let first = group.sorting_columns()?.first().filter(|order| !order.descending)?;
            usize::try_from(first.column_idx).ok()
        };
        let mut orders = metadata.row_groups().iter().map(order);
        let sorted = orders.next().flatten().filter(|first| orders.all(|order| order == Some(*first)));
        Ok(Self {
            sorted,
            packed,
            times,
            groups,
            columns: columns
                .iter()
                .map(|column| FileColumn {
                    physical: column.physical_type(),
                    is_optional: column.max_def_level() > 0,
                })
                .collect(),
            chunks,
            checksums,
            has_magic,
            places: shape.columns.iter().map(|(name, ..)| place(name)).collect(),
            kinds: shape.columns.iter().map(|(_, kind, ..)| *kind).collect(),
            names: shape.columns.iter().map(|(name, ..)| *name).collect(),
            offsets: shape.columns.iter().map(|(name, ..)| offset(name)).collect(),
            delays: place(clocks::DELAY),
        })
    }

    /// Whether the contents are protected by checksums.
    pub(super) fn is_verified(&self) -> bool {
        self.checksums.is_some()
    }

    /// The chunk of a column of the file in a row group, and its checksum, if any.
    pub(super) fn chunk(&self, group: usize, place: usize) -> (&ChunkPlace, Option<u32>) {
        let number = group * self.columns.len() + place;
        (&self.chunks[number], self.checksums.as_ref().map(|all| all[number]))
    }

    /// Where the packed sketches of a column of the table are in a row group; `None` without them.
    pub(super) fn packed(&self, group: usize, column: usize) -> Option<&PackedPlace> {
        self.packed.get(group).filter(|_| self.names[column] == packed::PACKED_COLUMN)
    }

    /// The smallest and the largest number of a column of the table in a row group.
    pub(super) fn integer_bounds(&self, group: usize, column: usize) -> Option<(i64, i64)> {
        match self.chunk(group, self.places[column]?).0.bounds {
            Bounds::Integers(least, greatest) => Some((least, greatest)),
            _ => None,
        }
    }

    /// The smallest and the largest text of a column of the table in a row group.
    pub(super) fn text_bounds(&self, group: usize, column: usize) -> Option<(&[u8], &[u8])> {
        match &self.chunk(group, self.places[column]?).0.bounds {
            Bounds::Texts(bounds) => Some((&bounds[0], &bounds[1])),
            _ => None,
        }
    }

    /// Bytes of memory, approximately.
    pub(crate) fn bytes(&self) -> usize {
        let texts = |chunk: &ChunkPlace| match &chunk.bounds {
            Bounds::Texts(bounds) => 2 * size_of::<Box<[u8]>>() + bounds[0].len() + bounds[1].len(),
            _ => 0,
        };
        let of_table = size_of::<(Option<usize>, Kind, &str, Option<(Clock, usize)>)>();
        size_of::<Self>()
            + self.chunks.len() * (size_of::<ChunkPlace>() + size_of::<u32>())
            + self.chunks.iter().map(texts).sum::<usize>()
            + self.groups.len() * size_of::<usize>()
            + self.packed.len() * size_of::<PackedPlace>()
            + self.columns.len() * size_of::<FileColumn>()
            + self.names.len() * of_table
    }
}

fn groups(metadata: &ParquetMetaData) -> Vec<usize> {
    metadata.row_groups().iter().map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).collect()
}

fn chunks(metadata: &ParquetMetaData, count: usize) -> Result<Vec<ChunkPlace>, Fault> {
    let groups = metadata.row_groups().iter();
    let chunks: Vec<ChunkPlace> = groups.flat_map(|group| group.columns().iter().map(chunk)).collect();
    match chunks.len() == count {
        true => Ok(chunks),
        false => Err(Fault::Damaged("a row group lacks columns".to_owned())),
    }
}

fn chunk(about: &ColumnChunkMetaData) -> ChunkPlace {
    let start = about
        .dictionary_page_offset()
        .filter(|start| *start > 0)
        .map_or(about.data_page_offset(), |start| start.min(about.data_page_offset()));
    let range = u64::try_from(start).ok().zip(usize::try_from(about.compressed_size()).ok());
    let integers = |least: Option<&i64>, greatest: Option<&i64>| Some((*least?, *greatest?));
    let bounds = match about.statistics() {
        Some(Statistics::Int64(bounds)) => integers(bounds.min_opt(), bounds.max_opt())
            .map_or(Bounds::Unknown, |(least, greatest)| Bounds::Integers(least, greatest)),
        Some(Statistics::ByteArray(bounds)) if bounds.max_is_exact() => {
            match (bounds.min_opt(), bounds.max_opt()) {
                (Some(least), Some(greatest)) => {
                    Bounds::Texts(Box::new([least.data().into(), greatest.data().into()]))
                }
                _ => Bounds::Unknown,
            }
        }
        _ => Bounds::Unknown,
    };
    let missing = about.statistics().and_then(Statistics::null_count_opt);
    ChunkPlace { range, compression: about.compression(), missing, bounds }
}

/// Why a segment cannot be read.
pub(super) enum Fault {
    /// Its footer is damaged.
    Damaged(String),
    /// It is intact, but not supported by this program.
    Refused(ParquetError),
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}

/// The footer, followed by its length, and whether the magic is at both ends of the file.
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

/// The time is the first column of every table.
const TIME: usize = 0;
/// Bytes of the length after a footer.
const LENGTH_BYTES: usize = 4;
