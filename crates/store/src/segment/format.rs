//! What all segments have in common.

/// Keys of the metadata.
pub(crate) const VERSION_KEY: &str = "inband.schema_version";
pub(crate) const TABLE_KEY: &str = "inband.table";
/// Rows of a row group: what the pruning by statistics can leave out.
pub(crate) const ROW_GROUP_ROWS: usize = 65_536;
/// Little time for most of what can be won.
pub(super) const ZSTD_LEVEL: i32 = 3;
