//! The rows of seconds, minutes and hours of queues.

use inband_model::table::MinuteRow;
use inband_model::{Nanos, NodeId};

use crate::sketch::Sketch;

/// Fills in the latencies of a row.
pub(crate) fn tell(row: &mut MinuteRow, sketch: &Sketch) {
    let quantile = |per_mille| Some(Nanos(sketch.quantile(per_mille)?));
    row.latency_quantiles = (|| Some([quantile(500)?, quantile(900)?, quantile(990)?]))();
    row.latency_sketch = sketch.to_text();
}

/// A row without hops.
pub(crate) const EMPTY: MinuteRow = MinuteRow {
    minute: Nanos::ZERO,
    node_id: NodeId(0),
    egress_interface: None,
    queue_id: None,
    count: 0,
    latency_count: 0,
    latency_max: None,
    latency_quantiles: None,
    latency_sketch: String::new(),
    queue_occupancy_max: None,
    dropped: 0,
    utilization_max: None,
};

/// The start of the minute of a time.
pub(super) fn minute_of(time: Nanos) -> Nanos {
    Nanos(time.0 - time.0 % MINUTE)
}

/// Nanoseconds per minute.
pub(crate) const MINUTE: u64 = 60_000_000_000;
