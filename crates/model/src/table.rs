//! The tables of history and their columns.
//!
//! Tables are defined only here: segments, log and SQL follow these definitions.

mod bursts;
mod columns;
mod events;
mod ledger;
mod minutes;
mod observations;
mod paths;
mod reports;
mod roll_ups;

pub use self::bursts::{BURSTS, BurstRow};
pub use self::columns::{Cells, Column, Kind, Shape, Table};
pub use self::events::{EVENTS, EventRow};
pub use self::ledger::{LEDGER, LedgerRow, LedgerScope};
pub use self::minutes::{HOURS, MINUTES, MinuteRow, SECONDS};
pub use self::observations::OBSERVATIONS;
pub use self::paths::PATHS;
pub use self::reports::REPORTS;
pub use self::roll_ups::{FLOW_MINUTES, FlowMinuteRow, LINK_MINUTES, LinkMinuteRow, TOTALS, TotalRow};

/// Version of all tables together, stored in the metadata of every segment. Within a version, columns are
/// only added. Version 2 stores the timestamps of nodes as offsets.
pub const SCHEMA_VERSION: u32 = 2;
/// The oldest version of segments that can be read.
pub const OLDEST_SCHEMA_VERSION: u32 = 1;

/// The tables without the types of their rows.
#[must_use]
pub fn shapes() -> Vec<Shape> {
    vec![
        OBSERVATIONS.shape(),
        PATHS.shape(),
        EVENTS.shape(),
        LEDGER.shape(),
        MINUTES.shape(),
        SECONDS.shape(),
        BURSTS.shape(),
        HOURS.shape(),
        FLOW_MINUTES.shape(),
        LINK_MINUTES.shape(),
        TOTALS.shape(),
        REPORTS.shape(),
    ]
}

#[cfg(test)]
mod tests;
