//! What is a segment? A Parquet file with rows of one table, one hour and one generation.
//!
//! Its metadata say which version the schema has. Integers are INT64, times are INT64 with the logical type
//! TIMESTAMP in nanoseconds of UTC, texts are UTF-8; columns are compressed with zstd where that makes them smaller.

mod delta;
mod dictionary;
mod encode;
mod file;
mod hybrid;
mod observations;
mod page;
mod read;
mod write;

pub(crate) use read::SegmentReader;
pub(crate) use write::{column_of, write, write_observations};

/// Keys of the metadata.
pub(crate) const VERSION_KEY: &str = "inband.schema_version";
pub(crate) const TABLE_KEY: &str = "inband.table";
/// Rows of a row group: what the pruning by statistics can leave out.
pub(crate) const ROW_GROUP_ROWS: usize = 32_768;
