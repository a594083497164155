//! What is a segment? A Parquet file with rows of one table, one hour and one generation.
//!
//! Its metadata say which version the schema has. Integers are INT64, times are INT64 with the logical type
//! TIMESTAMP in nanoseconds of UTC, texts are UTF-8; columns are compressed with zstd where that makes them smaller.

mod checksums;
mod decode;
mod delta;
mod dictionary;
mod encode;
mod file;
mod header;
mod hybrid;
mod observations;
mod page;
mod read;
mod unpack;
mod write;

use checksums::CHUNKS_KEY;
pub(crate) use read::SegmentReader;
pub(crate) use write::{column_of, write, write_observations};

/// Keys of the metadata.
pub(crate) const VERSION_KEY: &str = "inband.schema_version";
pub(crate) const TABLE_KEY: &str = "inband.table";
/// Rows of a row group: what the pruning by statistics can leave out.
pub(crate) const ROW_GROUP_ROWS: usize = 32_768;

/// Makes the footer of a file that was changed whole again.
#[cfg(test)]
pub(crate) fn seal_again(file: &mut [u8]) {
    let end = file.len() - 4;
    let length = u32::from_le_bytes(*file[end - 4..].first_chunk().unwrap()) as usize;
    checksums::seal_again(&mut file[end - 4 - length..end]);
}
