//! How is a store set up?

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use inband_model::table::{HOURS, LINK_MINUTES, MINUTES, SECONDS, TOTALS};

/// Where history is kept, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSettings {
    /// The directory; made when it is not there.
    pub path: PathBuf,
    /// Rows older than this are removed, an hour of them at a time. Minutes of queues and links, which name no
    /// flow, are kept ten times as long, hours of queues sixty times.
    pub retain: Duration,
    /// The same for single tables, by name.
    pub retain_tables: BTreeMap<String, Duration>,
    /// The oldest hours are removed when all files together are larger, bytes.
    pub max_size_bytes: u64,
    /// Rows that may wait to be written while the disk is slow; what does not fit is shed. A million is about two
    /// seconds of the most that one socket receives.
    pub queue_rows: usize,
    /// Rows after which a log becomes segments. Up to three times as many are in memory, and once more as many while
    /// questions are asked, which share what they have decoded of the logs.
    pub segment_rows: usize,
    /// Time after which a log becomes segments, however few rows it has.
    pub segment_after: Duration,
    /// Longest time that rows stand in the log and are not durable.
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

/// Minutes are kept this many times as long as what they were made of.
const MINUTES_FACTOR: u32 = 10;
/// And hours so many times.
const HOURS_FACTOR: u32 = 60;
