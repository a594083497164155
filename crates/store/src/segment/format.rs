//! The constants of all segments.

/// Keys of the metadata.
pub(crate) const VERSION_KEY: &str = "inband.schema_version";
pub(crate) const TABLE_KEY: &str = "inband.table";
/// Rows per row group, the unit that statistics can exclude.
pub(crate) const ROW_GROUP_ROWS: usize = 65_536;
/// Most of the possible compression in little time.
pub(super) const ZSTD_LEVEL: i32 = 3;
