//! Numbers, paths and events in words.

use std::time::Duration;

use inband_collector::QueueView;
use inband_model::{CongestionPhase, CulpritFlow, Event, EventDetail, Nanos, NodeId, Path, Phase};

use super::scenario::{Scenario, UNITS};

/// A number with a comma between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A span of time in microseconds, or milliseconds where it is long.
pub(crate) fn span(span: Nanos) -> String {
    match span.0 {
        nanos @ ..1_000_000 => format!("{}.{} us", nanos / 1_000, nanos / 100 % 10),
        nanos => format!("{}.{} ms", nanos / 1_000_000, nanos / 100_000 % 10),
    }
}

/// A span of time as microseconds without a unit.
pub(super) fn micros(span: Option<Nanos>) -> String {
    span.map_or_else(|| "?".to_owned(), |span| format!("{}", span.0.div_ceil(1_000)))
}

/// The occupancy of a queue.
pub(super) fn occupancy(value: u32) -> String {
    UNITS.occupancy(value).to_string()
}

/// Seconds with one decimal.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

/// A path by the names of its nodes.
pub(super) fn path(path: &Path, scenario: &Scenario) -> String {
    let names: Vec<_> = path.hops().iter().map(|hop| scenario.node_name(hop.node_id.0)).collect();
    names.join(" ")
}

/// The latency of each hop, microseconds.
pub(super) fn latencies(hops: &[Option<Nanos>]) -> String {
    let micros: Vec<_> = hops.iter().map(|latency| micros(*latency)).collect();
    micros.join(" ")
}

/// A queue by the name of its node.
pub(super) fn queue_name(queue: &QueueView, scenario: &Scenario) -> String {
    place(queue.node_id, queue.egress_interface, scenario)
}

/// What an event is about, and its details; the second is empty where the first is complete.
pub(super) fn sentence(event: &Event, scenario: &Scenario) -> (String, String) {
    match &event.detail {
        EventDetail::PathChange(change) => {
            let (old, new) = (path(&change.old, scenario), path(&change.new, scenario));
            (change.flow.to_string(), format!("{old} -> {new}"))
        }
        EventDetail::QueueCongestion(congestion) => {
            let place = place(congestion.node_id, congestion.egress_interface, scenario);
            let latency = congestion.peak_latency.map(span).unwrap_or_default();
            let occupancy = congestion.peak_occupancy.map(occupancy).unwrap_or_default();
            let detail = match congestion.phase {
                CongestionPhase::Begin => format!("begins, {latency}, {occupancy}"),
                CongestionPhase::End => format!("ends, peak {latency}, {occupancy}"),
            };
            (place, detail)
        }
        EventDetail::LatencySpike(spike) => {
            let place = place(spike.node_id, spike.egress_interface, scenario);
            let (latency, median) = (span(spike.latency), span(spike.median));
            let ends = if event.phase == Phase::End { "ends, " } else { "" };
            (place, format!("{ends}{latency}, median {median}"))
        }
        EventDetail::Culprits(culprits) => {
            let place = place(culprits.node_id, culprits.egress_interface, scenario);
            (place, shares(&culprits.culprits))
        }
        _ => (event.key.clone(), String::new()),
    }
}

/// The flow with the largest share, and how many more there are.
pub(super) fn shares(culprits: &[CulpritFlow]) -> String {
    let Some((first, more)) = culprits.split_first() else { return String::new() };
    let first = format!("{} % {}", first.share_permille / 10, first.flow);
    if more.is_empty() { first } else { format!("{first}, and {} more", more.len()) }
}

fn place(node_id: NodeId, egress_interface: Option<u16>, scenario: &Scenario) -> String {
    let interface = egress_interface.map_or_else(|| "?".to_owned(), |id| id.to_string());
    format!("{} interface {interface}", scenario.node_name(node_id.0))
}
