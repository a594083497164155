//! Segments: Parquet files with rows of one table, one hour and one generation.
//!
//! The metadata contain the schema version. Integers are INT64, times are INT64 with the logical type
//! TIMESTAMP in nanoseconds of UTC, texts are UTF-8; columns are compressed with zstd if that makes them
//! smaller.

mod announce;
mod checksums;
mod clocks;
mod decode;
mod delta;
mod dictionary;
mod encode;
mod file;
mod footer;
mod format;
mod found;
mod header;
mod hybrid;
mod kept;
mod observations;
mod open_files;
mod packed;
mod page;
mod read;
mod schema;
mod select;
mod split;
mod unpack;
mod unread;
mod write;

pub(crate) use footer::Footer;
pub(crate) use format::ROW_GROUP_ROWS;
#[cfg(test)]
pub(crate) use format::VERSION_KEY;
pub(crate) use found::{Found, Seen};
pub(crate) use kept::Kept;
pub(crate) use open_files::OpenFiles;
pub(crate) use read::SegmentReader;
pub(crate) use write::{BY_PLACE_ROWS, column_of, write, write_columns, write_observations};

/// Recomputes the footer's checksum after a change.
#[cfg(test)]
pub(crate) fn seal_again(file: &mut [u8]) {
    let end = file.len() - 4;
    let length = u32::from_le_bytes(*file[end - 4..].first_chunk().unwrap()) as usize;
    checksums::seal_again(&mut file[end - 4 - length..end]);
}
