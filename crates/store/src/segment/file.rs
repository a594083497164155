//! Assembly of encoded columns into a Parquet file, in memory.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
    SortingColumn,
};
use parquet::file::statistics::Statistics;
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, TypePtr};
use zstd::bulk::Compressor;

use super::checksums::{self, CREATOR_MARK};
use super::packed::{self, PackedPlace};
use super::page::{PageEncoding, PageKind, put_header};

/// A Parquet file in progress.
pub(super) struct FileBuilder {
    bytes: Vec<u8>,
    schema: SchemaDescPtr,
    compressor: Compressor<'static>,
    /// The compressed pages of a column; kept so that the memory is reused.
    compressed: Vec<u8>,
    /// Bytes of it that belong to the dictionary.
    dictionary_bytes: usize,
    /// One compressed page.
    page: Vec<u8>,
    groups: Vec<RowGroupMetaData>,
    columns: Vec<ColumnChunkMetaData>,
    /// The checksum of each column chunk.
    checksums: Vec<u32>,
    /// The column in whose order the rows are, ascending.
    sorted: Option<usize>,
    /// Where the packed sketches of each row group are, if it has any.
    packed: Vec<PackedPlace>,
    rows: usize,
}

/// The values of a column in a row group, as stored in pages.
#[derive(Debug, Default)]
pub(super) struct EncodedColumn {
    /// The distinct values.
    pub(super) dictionary: Vec<u8>,
    /// The number of distinct values; 0 without a dictionary.
    pub(super) words: usize,
    /// Levels and values.
    pub(super) data: Vec<u8>,
    pub(super) encoding: Option<PageEncoding>,
    pub(super) statistics: Option<Statistics>,
}

impl EncodedColumn {
    pub(super) fn clear(&mut self) {
        self.dictionary.clear();
        self.data.clear();
        (self.words, self.encoding, self.statistics) = (0, None, None);
    }
}

impl FileBuilder {
    pub(super) fn new(schema: TypePtr, zstd_level: i32) -> Result<FileBuilder, ParquetError> {
        Ok(FileBuilder {
            bytes: MAGIC.to_vec(),
            schema: Arc::new(SchemaDescriptor::new(schema)),
            compressor: Compressor::new(zstd_level)?,
            compressed: Vec::new(),
            dictionary_bytes: 0,
            page: Vec::new(),
            groups: Vec::new(),
            columns: Vec::new(),
            checksums: Vec::new(),
            sorted: None,
            packed: Vec::new(),
            rows: 0,
        })
    }

    /// Notes that the rows of all row groups are in the order of a column, ascending.
    pub(super) fn note_sorted(&mut self, column: usize) {
        self.sorted = Some(column);
    }

    /// Sets the compression level of later columns.
    pub(super) fn set_level(&mut self, zstd_level: i32) -> Result<(), ParquetError> {
        Ok(self.compressor.set_compression_level(zstd_level)?)
    }

    /// Adds the next column of a row group of `rows` rows.
    pub(super) fn add_column(&mut self, rows: usize, column: &EncodedColumn) -> Result<(), ParquetError> {
        let encoding = column.encoding.unwrap_or(PageEncoding::Plain);
        let plain_bytes = column.dictionary.len() + column.data.len();
        self.compress(column)?;
        // Both pages are compressed, or neither.
        let is_compressed = self.compressed.len() < plain_bytes / 16 * 15;
        let start = self.bytes.len();
        let mut headers = 0;
        let (dictionary, page) = match is_compressed {
            true => self.compressed.split_at(self.dictionary_bytes),
            false => (column.dictionary.as_slice(), column.data.as_slice()),
        };
        if column.words > 0 {
            let kind = PageKind::Dictionary;
            headers += add_page(&mut self.bytes, kind, column.words, column.dictionary.len(), dictionary);
        }
        let data = self.bytes.len();
        headers += add_page(&mut self.bytes, PageKind::Data(encoding), rows, column.data.len(), page);
        let codec = match is_compressed {
            true => Compression::ZSTD(ZstdLevel::default()),
            false => Compression::UNCOMPRESSED,
        };
        let encodings = match encoding {
            PageEncoding::Plain => vec![Encoding::RLE, Encoding::PLAIN],
            PageEncoding::Dictionary => vec![Encoding::RLE, Encoding::PLAIN, Encoding::RLE_DICTIONARY],
            PageEncoding::Delta => vec![Encoding::RLE, Encoding::DELTA_BINARY_PACKED],
            PageEncoding::Split => vec![Encoding::RLE, Encoding::BYTE_STREAM_SPLIT],
        };
        let descriptor = self.schema.column(self.columns.len());
        let mut about = ColumnChunkMetaData::builder(descriptor)
            .set_encodings(encodings)
            .set_compression(codec)
            .set_num_values(number(rows))
            .set_total_compressed_size(number(self.bytes.len() - start))
            .set_total_uncompressed_size(number(plain_bytes + headers))
            .set_dictionary_page_offset((column.words > 0).then(|| number(start)))
            .set_data_page_offset(number(data));
        if let Some(statistics) = &column.statistics {
            about = about.set_statistics(statistics.clone());
        }
        self.columns.push(about.build()?);
        self.checksums.push(crc32fast::hash(&self.bytes[start..]));
        Ok(())
    }

    /// Ends a row group of `rows` rows.
    pub(super) fn end_group(&mut self, rows: usize) -> Result<(), ParquetError> {
        let columns = std::mem::take(&mut self.columns);
        let size = columns.iter().map(ColumnChunkMetaData::uncompressed_size).sum();
        let offset = columns.first().map(|column| column.byte_range().0.cast_signed());
        let mut group = RowGroupMetaData::builder(Arc::clone(&self.schema))
            .set_num_rows(number(rows))
            .set_total_byte_size(size)
            .set_column_metadata(columns)
            .set_ordinal(i16::try_from(self.groups.len()).unwrap_or(i16::MAX));
        if let Some(offset) = offset {
            group = group.set_file_offset(offset);
        }
        if let Some(column_idx) = self.sorted.and_then(|column| i32::try_from(column).ok()) {
            let order = SortingColumn { column_idx, descending: false, nulls_first: false };
            group = group.set_sorting_columns(Some(vec![order]));
        }
        self.groups.push(group.build()?);
        self.rows += rows;
        Ok(())
    }

    /// Adds the packed sketches of the last row group.
    pub(super) fn add_packed(&mut self, plain: &[u8]) -> Result<(), ParquetError> {
        self.compress_page(plain)?;
        self.packed.push(PackedPlace {
            start: self.bytes.len() as u64,
            stored: self.page.len(),
            plain: plain.len(),
            checksum: crc32fast::hash(&self.page),
        });
        self.bytes.extend_from_slice(&self.page);
        Ok(())
    }

    /// Completes the file.
    pub(super) fn finish(mut self, mut pairs: Vec<KeyValue>) -> Result<Vec<u8>, ParquetError> {
        let creator = Some(format!("inband version {} {CREATOR_MARK}", env!("CARGO_PKG_VERSION")));
        // Without those of one row group, all are read as texts.
        if !self.packed.is_empty() && self.packed.len() == self.groups.len() {
            pairs.push(packed::pair(&self.packed));
        }
        pairs.extend(checksums::pairs(&self.checksums));
        let about = FileMetaData::new(FORMAT, number(self.rows), creator, Some(pairs), self.schema, None);
        let metadata = ParquetMetaData::new(about, self.groups);
        let footer = self.bytes.len();
        ParquetMetaDataWriter::new(&mut self.bytes, &metadata).finish()?;
        let end = self.bytes.len() - MAGIC.len();
        checksums::seal(&mut self.bytes[footer..end])?;
        Ok(self.bytes)
    }

    /// Compresses the pages of a column.
    fn compress(&mut self, column: &EncodedColumn) -> Result<(), ParquetError> {
        self.compressed.clear();
        for plain in [&column.dictionary, &column.data] {
            self.dictionary_bytes = self.compressed.len();
            if plain.is_empty() {
                continue;
            }
            self.compress_page(plain)?;
            self.compressed.extend_from_slice(&self.page);
        }
        Ok(())
    }

    /// Compresses one page.
    fn compress_page(&mut self, plain: &[u8]) -> Result<(), ParquetError> {
        self.page.clear();
        self.page.reserve(zstd::zstd_safe::compress_bound(plain.len()));
        self.compressor.compress_to_buffer(plain, &mut self.page)?;
        Ok(())
    }
}

/// Appends a page of `plain` bytes before compression; returns the length of its header.
fn add_page(bytes: &mut Vec<u8>, kind: PageKind, values: usize, plain: usize, stored: &[u8]) -> usize {
    let start = bytes.len();
    put_header(bytes, kind, values, plain, stored);
    let header = bytes.len() - start;
    bytes.extend_from_slice(stored);
    header
}

fn number(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// The first and last bytes of every Parquet file.
pub(super) const MAGIC: &[u8; 4] = b"PAR1";
/// Format version that the pages follow.
const FORMAT: i32 = 1;
