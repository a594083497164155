//! The settings of a store.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use inband_model::table::{HOURS, LINK_MINUTES, MINUTES, SECONDS, TOTALS};

/// Where history is kept, and how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSettings {
    /// The directory; created if missing.
    pub path: PathBuf,
    /// Rows older than this are removed, one hour at a time. Minutes of queues and links, which name no flow,
    /// are kept ten times as long, hours of queues sixty times.
    pub retain: Duration,
    /// The same for individual tables, by name.
    pub retain_tables: BTreeMap<String, Duration>,
    /// Maximum size of all files together, bytes; beyond it the oldest hours are removed: those of
    /// observations, paths, reports and minutes of flows while these take more than a quarter of it, then
    /// those of any table.
    pub max_size_bytes: u64,
    /// Maximum rows that are queued while the disk is slow; further ones are shed. A million is about two
    /// seconds at the maximum rate of one socket.
    pub queue_rows: usize,
    /// Rows after which a log becomes segments. Up to three times as many are in memory, and as many again,
    /// shared by all questions, while questions are asked.
    pub segment_rows: usize,
    /// Time after which a log becomes segments, however few rows it has.
    pub segment_after: Duration,
    /// Longest time that rows in the log are not durable.
    pub sync_after: Duration,
}

impl Default for StoreSettings {
    fn default() -> StoreSettings {
        StoreSettings {
            path: PathBuf::from("inband-data"),
            retain: Duration::from_secs(7 * 24 * 3600),
            retain_tables: BTreeMap::new(),
            max_size_bytes: 20_000_000_000,
            queue_rows: 1_048_576,
            segment_rows: 1_048_576,
            segment_after: Duration::from_secs(15 * 60),
            sync_after: Duration::from_millis(100),
        }
    }
}

impl StoreSettings {
    /// How long the rows of a table are kept.
    pub(crate) fn retain_of(&self, table: &str) -> Duration {
        let factor = match table {
            table if table == HOURS.name => HOURS_FACTOR,
            table if [MINUTES.name, SECONDS.name, LINK_MINUTES.name, TOTALS.name].contains(&table) => {
                MINUTES_FACTOR
            }
            _ => 1,
        };
        self.retain_tables.get(table).copied().unwrap_or_else(|| self.retain.saturating_mul(factor))
    }
}

/// How many times longer minutes are kept than their source.
const MINUTES_FACTOR: u32 = 10;
/// How many times longer hours are kept than their source.
const HOURS_FACTOR: u32 = 60;
