//! Queries for statistics of interfaces.

use inband_model::table::{HOURS, MINUTES, OBSERVATIONS, Shape};

use crate::range::TimeRange;
use crate::roll_ups::MINUTE;

/// Which hops are counted, and from which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfacesQuestion {
    /// The table.
    pub of: InterfacesOf,
    /// The time range.
    pub range: TimeRange,
    /// Only the interfaces of this node.
    pub node: Option<u32>,
    /// Percentiles are taken from one minute in `one_in` and from the last one; everything else from all.
    pub one_in: u64,
}

impl InterfacesQuestion {
    /// Whether percentiles include the minute of this time. The last minute, which may be running, and the
    /// one before it always count, so that percentiles are known soon after the first report.
    pub(super) fn is_sampled(&self, time: u64) -> bool {
        let earlier = (self.range.to.0 / MINUTE).saturating_sub(time / MINUTE);
        earlier == 0 || earlier % self.one_in == 1
    }
}

/// A table with statistics of interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterfacesOf {
    /// `observations`.
    Hops,
    /// `minutes`.
    Minutes,
    /// `hours`.
    Hours,
    /// `hours` for hours whose rows are all in the range, `minutes` for the rest.
    HoursAndMinutes,
}

impl InterfacesOf {
    pub(super) fn shape(self) -> Shape {
        match self {
            Self::Hops => OBSERVATIONS.shape(),
            Self::Minutes | Self::HoursAndMinutes => MINUTES.shape(),
            Self::Hours => HOURS.shape(),
        }
    }
}
