//! The position of a report in the order of packets of one flow.

use inband_model::{Nanos, NodeId, ReportReference};

use crate::ledger::Arrival;
use crate::report::HopReading;

/// What determines whether a report on a flow is older than another: the time of its packet at a node, else
/// its number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    report: ReportReference,
    /// Port of the socket it was sent to: sessions have separate numbers.
    session: u16,
    first: Option<Stamp>,
    last: Option<Stamp>,
}

/// When the packet reached a node, by the clock there.
#[derive(Debug, Clone, Copy)]
struct Stamp {
    node_id: NodeId,
    time: u64,
    is_wide: bool,
}

/// The order of a report relative to the latest one on the flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Its packet was earlier.
    Older,
    /// Its packet was earlier, by more than a report may be late; or the clock was set back, or does not run
    /// with time.
    TooLate,
    /// Its packet was later, by the node's clock.
    Newer,
    /// The order is unknown; it arrived later.
    Unknown,
}

impl Mark {
    /// The position of a report with these hops, first hop first.
    #[inline]
    pub(crate) fn new(report: ReportReference, session: u16, hops: &[HopReading]) -> Self {
        let last = hops.len().checked_sub(1).filter(|last| *last > 0).map(|last| &hops[last]);
        Self { report, session, first: hops.first().and_then(Stamp::of), last: last.and_then(Stamp::of) }
    }

    /// The report at this position.
    pub(super) fn report(&self) -> ReportReference {
        self.report
    }

    /// The order of `new`, which has just arrived, relative to this one, where a report may be `settle` late.
    #[inline]
    pub(crate) fn order(&self, new: &Self, arrival: Arrival, settle: Nanos) -> Order {
        let elapsed = new.report.received_at.0.wrapping_sub(self.report.received_at.0).cast_signed();
        let by_clock = Stamp::order(self.first, new.first, elapsed, settle)
            .or_else(|| Stamp::order(self.last, new.last, elapsed, settle));
        match by_clock {
            Some(order) => order,
            None if self.is_overtaking(new, arrival) => Order::Older,
            None => Order::Unknown,
        }
    }

    /// Whether the stream's numbers show that `new` was sent before this report.
    fn is_overtaking(&self, new: &Self, arrival: Arrival) -> bool {
        if !matches!(arrival, Arrival::Reordered | Arrival::Late) {
            // No report of its stream has a higher number.
            return false;
        }
        let (known, new_report) = (&self.report, &new.report);
        let is_same_stream =
            (known.node_id, known.hw_id, self.session) == (new_report.node_id, new_report.hw_id, new.session);
        let ahead = known.sequence.wrapping_sub(new_report.sequence) & NUMBERS;
        is_same_stream && ahead != 0 && ahead < NUMBERS / 2
    }
}

impl Stamp {
    #[inline]
    fn of(reading: &HopReading) -> Option<Self> {
        let time = reading.metadata.ingress_timestamp?;
        // A narrow timestamp of 0 means that there is none.
        let is_wide = reading.has_wide_clock;
        (is_wide || time != 0).then_some(Self { node_id: reading.hop.node_id, time, is_wide })
    }

    /// The order of two packets at the same node; `None` where the clock does not determine it.
    ///
    /// The difference of the timestamps, less that of the arrivals, is the additional delay of the first
    /// report. Where that is more than a report may be late, the clock was set, or does not count
    /// nanoseconds.
    #[inline]
    fn order(known: Option<Self>, new: Option<Self>, elapsed: i64, settle: Nanos) -> Option<Order> {
        let (known, new) = known.zip(new)?;
        if known.node_id != new.node_id || known.is_wide != new.is_wide {
            return None;
        }
        let gain = new.time.wrapping_sub(known.time).cast_signed().wrapping_sub(elapsed);
        let settle = i64::try_from(settle.0).unwrap_or(i64::MAX);
        let gain = if known.is_wide {
            gain
        } else if settle < NARROW_REACH {
            // Both timestamps wrap around, perhaps at different times.
            i64::from(u32::try_from(gain & i64::from(u32::MAX)).unwrap_or(0).cast_signed())
        } else {
            return None;
        };
        if gain > settle {
            return None;
        }
        if gain < -settle {
            return Some(Order::TooLate);
        }
        Some(if elapsed.saturating_add(gain) < 0 { Order::Older } else { Order::Newer })
    }
}

/// Sequence numbers of reports 2.0. Reports of one flow that overtake each other are closer than half of them
/// in any version.
const NUMBERS: u32 = (1 << 22) - 1;
/// Span in which a timestamp of 32 bits determines the order of two packets, nanoseconds.
const NARROW_REACH: i64 = 1 << 30;

#[cfg(test)]
mod tests;
