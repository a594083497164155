//! Long-term roll-ups of hops: minutes and hours of queues, minutes of flows and links, seconds of all
//! reports.
//!
//! They are made from the rows of a log, by the flusher when the log becomes segments and by questions before
//! that; so they agree with the rows, even after a crash.

mod flows;
mod hours;
mod links;
mod minutes;
mod queue_row;
mod roll_up;
mod sketches;
mod totals;

use inband_model::HopColumns;
use inband_model::table::{FlowMinuteRow, LinkMinuteRow, MinuteRow, TotalRow};

pub(crate) use self::flows::FlowMinutes;
pub(crate) use self::hours::hours;
pub(crate) use self::links::LinkMinutes;
pub(crate) use self::minutes::Minutes;
pub(crate) use self::queue_row::{EMPTY, MINUTE, tell};
pub(crate) use self::roll_up::RollUp;
pub(crate) use self::totals::Totals;

/// The roll-ups of some hops.
#[derive(Debug, Default)]
pub(crate) struct RollUps {
    pub(crate) minutes: Vec<MinuteRow>,
    pub(crate) hours: Vec<MinuteRow>,
    pub(crate) flows: Vec<FlowMinuteRow>,
    pub(crate) links: Vec<LinkMinuteRow>,
    pub(crate) totals: Vec<TotalRow>,
}

impl RollUps {
    /// The roll-ups of these hops.
    pub(crate) fn of(hops: &HopColumns) -> Self {
        let minutes = rows_of::<Minutes>(hops);
        let (flows, links, totals) =
            (rows_of::<FlowMinutes>(hops), rows_of::<LinkMinutes>(hops), rows_of::<Totals>(hops));
        RollUps { hours: hours(&minutes), minutes, flows, links, totals }
    }
}

/// One roll-up of these hops.
fn rows_of<R: RollUp>(hops: &HopColumns) -> Vec<R::Row> {
    let mut roll_up = R::default();
    roll_up.add(hops, 0..hops.reports().len());
    roll_up.rows()
}

#[cfg(test)]
mod tests;
