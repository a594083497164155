//! A flow's path as a trace: a span for the flow, with one inside it for each hop.

mod times;

use inband_model::{HopRecord, Names, Nanos, NodeId, PathObservation};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;

use super::message::{number, text};
use times::Times;

/// The spans of a path, the flow's first; `details` returns the latest hop of the flow at a node.
pub(super) fn spans(
    path: &PathObservation,
    names: &Names,
    details: impl Fn(NodeId) -> Option<HopRecord>,
) -> Vec<Span> {
    let hops = path.path.hops();
    let records: Vec<_> = hops.iter().map(|hop| details(hop.node_id)).collect();
    let times = Times::of(path, &records);
    let trace_id = trace_id(path);
    let span = |index: u64, parent: Option<u64>, name: String, from: Nanos, to: Nanos| Span {
        trace_id: trace_id.to_vec(),
        span_id: span_id(&trace_id, index),
        parent_span_id: parent.map(|parent| span_id(&trace_id, parent)).unwrap_or_default(),
        name,
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: from.0,
        end_time_unix_nano: to.0,
        ..Span::default()
    };
    let (from, to) = times.whole(path.received_at);
    let mut spans =
        vec![Span { attributes: of_flow(path, &times), ..span(0, None, "path".to_owned(), from, to) }];
    for (index, (hop, record)) in hops.iter().zip(&records).enumerate() {
        let (from, to) = times.hops[index];
        let number = index as u64;
        let attributes = of_hop(path, names, index, record.as_ref());
        let name = format!("node {}", hop.node_id);
        spans.push(Span { attributes, ..span(number + 1, Some(0), name, from, to) });
    }
    spans
}

fn of_flow(path: &PathObservation, times: &Times) -> Vec<KeyValue> {
    let flow = &path.flow;
    let transport = match flow.protocol {
        6 => "tcp".to_owned(),
        17 => "udp".to_owned(),
        other => other.to_string(),
    };
    let mut attributes = vec![
        text("source.address", flow.source.to_string()),
        number("source.port", flow.source_port.into()),
        text("destination.address", flow.destination.to_string()),
        number("destination.port", flow.destination_port.into()),
        text("network.transport", transport),
        text("inband.path_id", path.path.id().to_string()),
        text("inband.origin", path.origin.name()),
        number("inband.hops", path.path.hops().len() as u64),
        number("inband.received_at_ns", path.received_at.0),
        text("inband.time.basis", times.basis.name()),
        number("inband.time.uncertainty_ns", times.uncertainty.0),
    ];
    attributes.extend(path.hops_expected.map(|hops| number("inband.hops_expected", hops.into())));
    attributes
}

fn of_hop(path: &PathObservation, names: &Names, index: usize, record: Option<&HopRecord>) -> Vec<KeyValue> {
    let hop = path.path.hops()[index];
    let latency = path.hop_latency.get(index).copied().flatten();
    let record = record.copied().unwrap_or_default();
    let known = [
        ("inband.ingress_interface", hop.ingress_interface.map(u64::from)),
        ("inband.egress_interface", hop.egress_interface.map(u64::from)),
        ("inband.hop_latency_ns", latency),
        ("inband.queue_id", record.queue_id.map(u64::from)),
        ("inband.queue_occupancy", record.queue_occupancy.map(u64::from)),
        ("inband.buffer_id", record.buffer_id.map(u64::from)),
        ("inband.buffer_occupancy", record.buffer_occupancy.map(u64::from)),
        ("inband.egress_utilization", record.egress_utilization.map(u64::from)),
        ("inband.ingress_timestamp", record.ingress_timestamp),
        ("inband.egress_timestamp", record.egress_timestamp),
    ];
    let mut attributes =
        vec![number("inband.node_id", hop.node_id.0.into()), number("inband.hop_index", index as u64)];
    attributes.extend(known.into_iter().filter_map(|(key, value)| Some(number(key, value?))));
    attributes.extend(names.node(hop.node_id).map(|name| text("inband.node_name", name)));
    if let Some(occupancy) = record.queue_occupancy {
        let units = names.units().of(hop.node_id);
        attributes.extend(units.queue.map(|unit| text("inband.queue_unit", unit.name())));
        attributes.extend(units.queue_bytes(occupancy).map(|bytes| number("inband.queue_bytes", bytes)));
    }
    attributes
}

/// The same path of the same flow at the same time has the same id, so that duplicates are one trace.
fn trace_id(path: &PathObservation) -> [u8; 16] {
    let flow = spread(path.flow.id().0 ^ path.received_at.0);
    let low = spread(flow ^ path.path.id().0);
    let mut id = [0; 16];
    id[..8].copy_from_slice(&flow.to_be_bytes());
    id[8..].copy_from_slice(&low.max(1).to_be_bytes());
    id
}

fn span_id(trace_id: &[u8; 16], index: u64) -> Vec<u8> {
    let low = trace_id[8..].iter().fold(0, |low, byte| low << 8 | u64::from(*byte));
    spread(low.wrapping_add(index)).max(1).to_be_bytes().to_vec()
}

/// Spreads every bit over the whole word, one to one: the finaliser of SplitMix64.
fn spread(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
