//! When a packet was at each hop.

use inband_model::{HopRecord, Nanos, Origin, PathObservation};

/// When the packet was at each hop of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Times {
    /// Entry and exit time of each hop.
    pub(super) hops: Vec<(Nanos, Nanos)>,
    pub(super) basis: Basis,
    /// Estimated error of the times; the actual error may be larger.
    pub(super) uncertainty: Nanos,
}

/// What times are based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// Timestamps of nodes whose clocks show the time of day.
    NodeClocks,
    /// The time at which the report arrived, with the hop latencies in sequence before it.
    ReceivedAt,
}

impl Basis {
    /// Its user-visible name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Basis::NodeClocks => "node-clocks",
            Basis::ReceivedAt => "received-at",
        }
    }
}

impl Times {
    /// The times of a path whose hops have these records.
    pub(super) fn of(path: &PathObservation, records: &[Option<HopRecord>]) -> Times {
        let by_clock: Option<Vec<_>> = records
            .iter()
            .enumerate()
            .map(|(index, record)| on_clock(record.as_ref()?, latency(path, index), path.received_at))
            .collect();
        match by_clock {
            Some(hops) if !hops.is_empty() => {
                let off = hops.iter().map(|(_, left)| path.received_at.0.abs_diff(left.0)).max();
                // Clock offsets and the report's travel time cannot be told apart.
                Times { hops, basis: Basis::NodeClocks, uncertainty: Nanos(off.unwrap_or(0)) }
            }
            _ => Times::before(path, records.len()),
        }
    }

    /// The hops in sequence, the last one ending when the report arrived.
    fn before(path: &PathObservation, hops: usize) -> Times {
        let latencies: Vec<_> = (0..hops).map(|index| latency(path, index).unwrap_or(0)).collect();
        let whole = latencies.iter().fold(0, |sum: u64, latency| sum.saturating_add(*latency));
        let mut at = Nanos(path.received_at.0.saturating_sub(whole));
        let mut times = Vec::with_capacity(hops);
        for latency in latencies {
            let left = at + Nanos(latency);
            times.push((at, left));
            at = left;
        }
        // Reports of single nodes may come from packets this far apart.
        let apart = if path.origin == Origin::MdStack { 0 } else { MAX_APART_NS };
        Times { hops: times, basis: Basis::ReceivedAt, uncertainty: Nanos(whole.saturating_add(apart)) }
    }

    /// From the first entry to the last exit.
    pub(super) fn whole(&self, received_at: Nanos) -> (Nanos, Nanos) {
        let from = self.hops.iter().map(|(from, _)| *from).min().unwrap_or(received_at);
        let to = self.hops.iter().map(|(_, to)| *to).max().unwrap_or(received_at);
        (from, to)
    }
}

fn latency(path: &PathObservation, index: usize) -> Option<u64> {
    path.hop_latency.get(index).copied().flatten()
}

/// When a packet entered and left by the node's clock, if that shows the time of day.
fn on_clock(record: &HopRecord, latency: Option<u64>, received_at: Nanos) -> Option<(Nanos, Nanos)> {
    let left = record.egress_timestamp.or_else(|| record.ingress_timestamp?.checked_add(latency?))?;
    let entered = record.ingress_timestamp.or_else(|| left.checked_sub(latency?))?;
    let is_plausible = entered <= left && received_at.0.abs_diff(left) <= FARTHEST_NS;
    is_plausible.then_some((Nanos(entered), Nanos(left)))
}

/// A clock that is further off shows the time since its node started, not the time of day.
const FARTHEST_NS: u64 = 3_600_000_000_000;
/// 2.5 times 2^30 ns: as long as a smart node's report of a flow is valid.
const MAX_APART_NS: u64 = 2_684_354_560;

#[cfg(test)]
mod tests {
    use inband_model::{Flow, Hop, HopRecord, Nanos, NodeId, Origin, Path, PathObservation};

    use super::{Basis, FARTHEST_NS, MAX_APART_NS, Times};

    const NOW: u64 = 1_700_000_000_000_000_000;

    #[test]
    fn timestamps_that_show_the_time_of_day_are_the_times() {
        let records = [stamped(Some(NOW - 900), Some(NOW - 500)), stamped(Some(NOW - 400), None)];
        let times = Times::of(&path(Origin::MdStack), &records);
        assert_eq!(
            times,
            Times {
                hops: vec![(Nanos(NOW - 900), Nanos(NOW - 500)), (Nanos(NOW - 400), Nanos(NOW - 370))],
                basis: Basis::NodeClocks,
                uncertainty: Nanos(500),
            }
        );
        assert_eq!(times.whole(Nanos(NOW)), (Nanos(NOW - 900), Nanos(NOW - 370)));
    }

    #[test]
    fn without_them_the_hops_end_one_after_another_when_the_report_came() {
        let good = stamped(Some(NOW - 900), Some(NOW - 500));
        let since_start = stamped(Some(5), Some(9));
        let backwards = stamped(Some(NOW), Some(NOW - 1));
        let far = stamped(None, Some(NOW - FARTHEST_NS - 1));
        for other in [None, since_start, backwards, far, stamped(None, None)] {
            let times = Times::of(&path(Origin::MdStack), &[good, other]);
            let expected = vec![(Nanos(NOW - 40), Nanos(NOW - 30)), (Nanos(NOW - 30), Nanos(NOW))];
            assert_eq!((times.hops, times.basis), (expected, Basis::ReceivedAt), "{other:?}");
            assert_eq!(times.uncertainty, Nanos(40));
        }
        let times = Times::of(&path(Origin::XdReport), &[good, None]);
        assert_eq!(times.uncertainty, Nanos(40 + MAX_APART_NS));
    }

    #[test]
    fn the_farthest_time_is_still_taken() {
        let record = stamped(None, Some(NOW - FARTHEST_NS));
        assert_eq!(Times::of(&path(Origin::MdStack), &[record]).basis, Basis::NodeClocks);
    }

    fn stamped(ingress: Option<u64>, egress: Option<u64>) -> Option<HopRecord> {
        Some(HopRecord { ingress_timestamp: ingress, egress_timestamp: egress, ..HopRecord::default() })
    }

    fn path(origin: Origin) -> PathObservation {
        let hop = |node| Hop { node_id: NodeId(node), ..Hop::default() };
        PathObservation {
            flow: Flow::default(),
            path: Path::new(&[hop(1), hop(2)]),
            hop_latency: vec![Some(10), Some(30)],
            hops_expected: None,
            received_at: Nanos(NOW),
            origin,
        }
    }
}
