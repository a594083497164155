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
    /// Percentiles are taken from about this many sketches of minutes, if there are more: from one minute in
    /// some, and from the last two. Everything else is of all rows.
    pub max_sketches: usize,
}

/// A sample of the minutes, which percentiles are taken from.
#[derive(Debug, Clone, Copy)]
pub(super) struct SampledMinutes {
    /// One minute in this many, at least two.
    pub(super) one_in: u64,
    last: u64,
}

impl SampledMinutes {
    /// Those of a query, if its minutes have this many rows, each with a sketch; `None`: all.
    pub(super) fn of(question: &InterfacesQuestion, rows: usize) -> Option<Self> {
        let one_in = u64::try_from(rows.div_ceil(question.max_sketches.max(1))).unwrap_or(u64::MAX);
        (one_in > 1).then_some(Self { one_in, last: question.range.to.0 / MINUTE })
    }

    /// Whether the minute of this time is included. The last minute, which may be running, and the one before
    /// it always are, so that percentiles are known soon after the first report.
    pub(super) fn include(self, time: u64) -> bool {
        let earlier = self.last.saturating_sub(time / MINUTE);
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
