//! How is a segment read? A row group at a time, and of it only the columns that are asked for.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use inband_model::table::{Kind, SCHEMA_VERSION, Shape};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{BoolType, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;

use super::VERSION_KEY;
use crate::error::StoreError;
use crate::history::ColumnData;

/// An open segment.
pub(crate) struct SegmentReader {
    file: SerializedFileReader<File>,
    /// Where each column of the table stands in the file.
    places: Vec<Option<usize>>,
    kinds: Vec<Kind>,
}

impl SegmentReader {
    /// Opens a segment of a table; a column that an older program did not write reads as missing.
    pub(crate) fn open(path: &Path, shape: &Shape) -> Result<SegmentReader, StoreError> {
        let file = File::open(path).map_err(StoreError::io("open", path))?;
        let file = SerializedFileReader::new(file).map_err(StoreError::segment("read", path))?;
        let metadata = file.metadata().file_metadata();
        let version = metadata
            .key_value_metadata()
            .and_then(|pairs| pairs.iter().find(|pair| pair.key == VERSION_KEY)?.value.as_deref());
        if version != Some(SCHEMA_VERSION.to_string().as_str()) {
            let version = version.unwrap_or("none");
            let error = ParquetError::General(format!(
                "schema version {version}, this program reads {SCHEMA_VERSION}"
            ));
            return Err(StoreError::segment("read", path)(error));
        }
        let columns = metadata.schema_descr().columns();
        let place = |name: &str| columns.iter().position(|column| column.name() == name);
        let places = shape.columns.iter().map(|(name, ..)| place(name)).collect();
        let kinds = shape.columns.iter().map(|(_, kind, ..)| *kind).collect();
        Ok(SegmentReader { file, places, kinds })
    }

    pub(crate) fn row_groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// Rows of a row group.
    pub(crate) fn rows(&self, group: usize) -> usize {
        usize::try_from(self.file.metadata().row_group(group).num_rows()).unwrap_or(0)
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

    fn statistics(&self, group: usize, column: usize) -> Option<&Statistics> {
        self.file.metadata().row_group(group).column(self.places[column]?).statistics()
    }

    /// The values of a column in a row group.
    pub(crate) fn column(&self, group: usize, column: usize) -> Result<ColumnData, ParquetError> {
        self.part_of_column(group, column, 0..self.rows(group))
    }

    /// The values of a column in some rows of a row group.
    pub(crate) fn part_of_column(
        &self,
        group: usize,
        column: usize,
        rows: Range<usize>,
    ) -> Result<ColumnData, ParquetError> {
        let Some(place) = self.places[column] else {
            return Ok(ColumnData::missing(self.kinds[column], rows.len()));
        };
        match (self.file.get_row_group(group)?.get_column_reader(place)?, self.kinds[column]) {
            (ColumnReader::Int64ColumnReader(reader), Kind::Time | Kind::Integer) => {
                let (values, valid) = values::<Int64Type>(reader, rows)?;
                Ok(ColumnData::from_present(values, valid))
            }
            (ColumnReader::BoolColumnReader(reader), Kind::Flag) => {
                let (values, _) = values::<BoolType>(reader, rows)?;
                Ok(ColumnData::Flags(values))
            }
            (ColumnReader::ByteArrayColumnReader(reader), Kind::Text) => {
                let (values, valid) = values::<ByteArrayType>(reader, rows)?;
                let mut present = values.iter();
                let all: Vec<Option<&[u8]>> = match &valid {
                    Some(valid) => valid
                        .iter()
                        .map(|valid| valid.then(|| present.next().map(|text| text.data()))?)
                        .collect(),
                    None => present.map(|text| Some(text.data())).collect(),
                };
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                Ok(ColumnData::of_texts(all.into_iter(), text))
            }
            _ => Err(ParquetError::General("a column has another type than its table says".into())),
        }
    }
}

/// The values that are there, and for a column that may miss some, which.
type Present<T> = (Vec<<T as DataType>::T>, Option<Vec<bool>>);

/// Reads the values of some rows of a row group.
fn values<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: Range<usize>,
) -> Result<Present<T>, ParquetError> {
    let skipped = if rows.start > 0 { reader.skip_records(rows.start)? } else { 0 };
    if skipped != rows.start {
        return Err(ParquetError::EOF(format!("row {} expected, {skipped} rows found", rows.start)));
    }
    let rows = rows.len();
    let (mut values, mut levels) = (Vec::with_capacity(rows), Vec::new());
    let mut read = 0;
    while read < rows {
        let (records, ..) = reader.read_records(rows - read, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::EOF(format!("{rows} rows expected, {read} found")));
        }
        read += records;
    }
    let valid = (values.len() != rows || !levels.is_empty())
        .then(|| levels.iter().map(|level| *level > 0).collect::<Vec<_>>());
    if valid.as_ref().is_some_and(|valid| valid.len() != rows) {
        return Err(ParquetError::General("values and levels do not agree".into()));
    }
    Ok((values, valid))
}
