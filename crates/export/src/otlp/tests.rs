//! Tests that an OTLP receiver gets the traces and metrics of what the collector knows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use inband_model::{
    Flow, Hop, HopColumns, HopRecord, NameList, Names, Nanos, NodeId, NodeName, Observation, Origin, Output,
    Path, PathObservation,
};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use super::{OtlpSettings, Source, start};
use crate::metrics::{Family, MetricsSource, Sample};
use crate::sample::{Reply, Server, wait_for};
use crate::stage::Stage;
use crate::tally::Tally;

const NOW: u64 = 1_700_000_000_000_000_000;

#[test]
fn a_path_is_a_trace_with_a_span_for_each_hop() {
    let server = Server::start("127.0.0.1:0", &[Reply::Status(503)]);
    let tally = Arc::new(Tally::new("otlp".to_owned()));
    let named = NameList {
        nodes: vec![NodeName { id: 7, name: "leaf1".to_owned(), ..NodeName::default() }],
        ..NameList::default()
    };
    let names = Arc::new(Names::new(named));
    let mut export = start(&settings(&server), "", &names, Source::default(), Arc::clone(&tally)).unwrap();
    let record = |node_id, entered, left| HopRecord {
        received_at: Nanos(NOW),
        flow: Some(flow(1)),
        node_id: NodeId(node_id),
        hop_count: 2,
        queue_id: Some(3),
        queue_occupancy: Some(70),
        ingress_timestamp: Some(NOW - entered),
        egress_timestamp: Some(NOW - left),
        ..HopRecord::default()
    };
    let hops = [record(7, 5_000, 4_100), record(8, 3_000, 1_800)];
    export.handle_hops(&HopColumns::from(&hops[..]), 1);
    export.handle_output(&path(flow(1), NOW));
    // The same flow again, and another one without timestamps.
    export.handle_output(&path(flow(1), NOW + 1_000_000));
    export.handle_output(&path(flow(2), NOW));
    let ledger = wait_for(&tally, |ledger| ledger.exported == 2);
    assert_eq!((ledger.offered, ledger.kept_back, ledger.retries), (2, 1, 1));

    let spans = spans(&server);
    assert_eq!(spans.len(), 6);
    let [root, first, second, other, ..] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!((root.name.as_str(), first.name.as_str(), second.name.as_str()), ("path", "node 7", "node 8"));
    assert_eq!((root.start_time_unix_nano, root.end_time_unix_nano), (NOW - 5_000, NOW - 1_800));
    assert_eq!((second.start_time_unix_nano, second.end_time_unix_nano), (NOW - 3_000, NOW - 1_800));
    for hop in [first, second] {
        assert_eq!((&hop.trace_id, &hop.parent_span_id), (&root.trace_id, &root.span_id));
    }
    assert_eq!((root.trace_id.len(), root.span_id.len(), root.parent_span_id.len()), (16, 8, 0));
    assert!(root.span_id != first.span_id && first.span_id != second.span_id);
    assert_ne!(root.trace_id, other.trace_id);

    assert_eq!(attribute(&root.attributes, "source.address"), "10.0.0.1");
    assert_eq!(attribute(&root.attributes, "destination.port"), "80");
    assert_eq!(attribute(&root.attributes, "network.transport"), "tcp");
    assert_eq!(attribute(&root.attributes, "inband.time.basis"), "node-clocks");
    assert_eq!(attribute(&root.attributes, "inband.time.uncertainty_ns"), "4100");
    assert_eq!(attribute(&first.attributes, "inband.node_id"), "7");
    assert_eq!(attribute(&first.attributes, "inband.node_name"), "leaf1");
    assert_eq!(attribute(&first.attributes, "inband.ingress_interface"), "1");
    assert_eq!(attribute(&first.attributes, "inband.hop_latency_ns"), "900");
    assert_eq!(attribute(&first.attributes, "inband.queue_occupancy"), "70");

    assert_eq!(attribute(&other.attributes, "inband.time.basis"), "received-at");
    assert_eq!((other.start_time_unix_nano, other.end_time_unix_nano), (NOW - 2_100, NOW));
    assert!(!spans[4].attributes.iter().any(|attribute| attribute.key == "inband.queue_occupancy"));
}

#[test]
fn counters_are_sums_and_other_metrics_gauges() {
    let server = Server::start("127.0.0.1:0", &[]);
    let tally = Arc::new(Tally::new("otlp".to_owned()));
    let source = Source::default();
    source.set(Box::new(Given)).unwrap();
    let settings = OtlpSettings { metrics_seconds: 1, ..settings(&server) };
    let mut export = start(&settings, "", &Arc::default(), source, Arc::clone(&tally)).unwrap();
    wait_for(&tally, |ledger| ledger.exported >= 1);
    export.finish();

    let request = server.taken().swap_remove(0);
    let message = ExportMetricsServiceRequest::decode(request.body.as_slice()).unwrap();
    let metrics = &message.resource_metrics[0].scope_metrics[0].metrics;
    let [counter, gauge] = &metrics[..] else { panic!("{metrics:?}") };
    let Some(Data::Sum(sum)) = &counter.data else { panic!("{counter:?}") };
    assert_eq!((sum.is_monotonic, sum.data_points[0].value), (true, Some(Number::AsDouble(7.0))));
    assert_eq!(attribute(&sum.data_points[0].attributes, "node"), "5");
    assert!(matches!(gauge.data, Some(Data::Gauge(_))) && gauge.unit == "s", "{gauge:?}");
    assert_eq!(counter.unit, "");
}

#[test]
fn the_last_metrics_are_sent_at_the_end() {
    let server = Server::start("127.0.0.1:0", &[]);
    let tally = Arc::new(Tally::new("otlp".to_owned()));
    let source = Source::default();
    source.set(Box::new(Given)).unwrap();
    let settings = OtlpSettings { metrics_seconds: 3_600, ..settings(&server) };
    let mut export = start(&settings, "", &Arc::default(), source, Arc::clone(&tally)).unwrap();
    export.finish();

    let ledger = tally.ledger();
    assert_eq!((ledger.offered, ledger.exported, server.taken().len()), (1, 1, 1), "{ledger:?}");
}

/// A source of two metrics, and of one that has no samples.
struct Given;

impl MetricsSource for Given {
    fn families(&self) -> Option<Vec<Family>> {
        let sample = Sample::new([("node", "5".to_owned())], 7_u64);
        Some(vec![
            Family::counter("reports_total", "reports").with([sample]),
            Family::gauge("age_seconds", "age").of(0.5),
            Family::gauge("nothing", "no samples"),
        ])
    }
}

#[test]
fn nothing_is_sent_of_what_is_not_wanted() {
    let server = Server::start("127.0.0.1:0", &[]);
    let tally = Arc::new(Tally::new("otlp".to_owned()));
    let settings = OtlpSettings { traces: false, ..settings(&server) };
    let mut export = start(&settings, "", &Arc::default(), Source::default(), Arc::clone(&tally)).unwrap();
    assert!(!export.wants_hops());
    export.handle_output(&path(flow(1), NOW));
    export.finish();
    assert_eq!((tally.ledger().offered, server.taken().len()), (0, 0));
}

#[test]
fn hops_that_do_not_fit_cost_no_trace() {
    let server = Server::start("127.0.0.1:0", &[Reply::Slow(Duration::from_millis(300))]);
    let tally = Arc::new(Tally::new("otlp".to_owned()));
    let settings = OtlpSettings { queue: 100, ..settings(&server) };
    let mut export = start(&settings, "", &Arc::default(), Source::default(), Arc::clone(&tally)).unwrap();
    export.handle_output(&path(flow(1), NOW));
    for number in 2..60 {
        export.handle_hops(&HopColumns::from(&[HopRecord::default(); 4_096][..]), 4_096);
        export.handle_output(&path(flow(number), NOW));
    }
    let ledger = wait_for(&tally, |ledger| ledger.waiting == 0);
    assert_eq!((ledger.offered, ledger.exported), (59, 59), "{ledger:?}");
}

#[test]
fn spans_that_are_rejected_are_not_exported() {
    let partial = ExportTracePartialSuccess { rejected_spans: 2, error_message: "over the quota".to_owned() };
    let body = ExportTraceServiceResponse { partial_success: Some(partial) }.encode_to_vec();
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nConnection: close\r\nContent-Length: ";
    let answer = [format!("{head}{}\r\n\r\n", body.len()).into_bytes(), body].concat();
    let server = Server::start("127.0.0.1:0", &[Reply::Raw(answer.leak())]);
    let tally = Arc::new(Tally::new("otlp".to_owned()));
    let mut export =
        start(&settings(&server), "", &Arc::default(), Source::default(), Arc::clone(&tally)).unwrap();

    // One trace of three spans, two of them rejected.
    export.handle_output(&path(flow(1), NOW));
    let ledger = wait_for(&tally, |ledger| ledger.waiting == 0 && ledger.offered == 1);
    assert_eq!((ledger.exported, ledger.retries), (0, 0));
    assert_eq!(ledger.failures, [("rejected".to_owned(), 1)].into());
    assert_eq!(ledger.trouble.as_deref(), Some("traces: it rejects 2 spans: over the quota"));

    export.handle_output(&path(flow(2), NOW));
    let ledger = wait_for(&tally, |ledger| ledger.exported == 1);
    assert!(ledger.balances() && ledger.trouble.is_none(), "{ledger:?}");
}

#[test]
fn half_an_answer_is_not_exported() {
    let halves: [&[u8]; 3] = [
        b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 40\r\n\r\n\x0a\x10",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        // Without a length, only the content shows that the response is cut short.
        b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nConnection: close\r\n\r\n\x0a\x10\x08",
    ];
    for half in halves {
        let server = Server::start("127.0.0.1:0", &[Reply::Raw(half)]);
        let tally = Arc::new(Tally::new("otlp".to_owned()));
        let mut export =
            start(&settings(&server), "", &Arc::default(), Source::default(), Arc::clone(&tally)).unwrap();
        export.handle_output(&path(flow(1), NOW));
        let first = wait_for(&tally, |ledger| ledger.trouble.is_some() || ledger.exported > 0);
        assert!(first.exported == 0 && first.trouble.unwrap().starts_with("traces: half an answer: "));
        let ledger = wait_for(&tally, |ledger| ledger.exported == 1);
        assert_eq!((ledger.retries, ledger.export_failed, server.taken().len()), (1, 0, 1));
    }
}

#[test]
fn a_slow_receiver_of_traces_does_not_hold_metrics_up_nor_the_other_way_round() {
    for silent in ["/v1/traces", "/v1/metrics"] {
        let server = Server::silent_at(silent);
        let tally = Arc::new(Tally::new("otlp".to_owned()));
        let source = Source::default();
        let settings = OtlpSettings { metrics_seconds: 1, timeout_ms: 60_000, ..settings(&server) };
        let mut export =
            start(&settings, "", &Arc::default(), Arc::clone(&source), Arc::clone(&tally)).unwrap();
        source.set(Box::new(Given)).unwrap();
        let started = Instant::now();
        for number in 1..=3 {
            export.handle_output(&path(flow(number), NOW));
            wait_for(&tally, |ledger| silent == "/v1/traces" || ledger.exported == u64::from(number));
        }
        if silent == "/v1/traces" {
            wait_for(&tally, |ledger| ledger.exported == 3);
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{silent}");
    }
}

#[test]
fn messages_name_the_instance_that_sends_them() {
    let instance_of = |instance: &str, seed: &str| {
        let server = Server::start("127.0.0.1:0", &[]);
        let settings = OtlpSettings { instance: instance.to_owned(), ..settings(&server) };
        let tally = Arc::new(Tally::new("otlp".to_owned()));
        let mut export =
            start(&settings, seed, &Arc::default(), Source::default(), Arc::clone(&tally)).unwrap();
        export.handle_output(&path(flow(1), NOW));
        wait_for(&tally, |ledger| ledger.exported == 1);
        let message = ExportTraceServiceRequest::decode(server.taken()[0].body.as_slice()).unwrap();
        attribute(&message.resource_spans[0].resource.as_ref().unwrap().attributes, "service.instance.id")
    };
    assert_eq!(instance_of("collector-7", "a"), "collector-7");
    assert_eq!(instance_of("", "a"), instance_of("", "a"));
    assert_ne!(instance_of("", "a"), instance_of("", "b"));
}

fn settings(server: &Server) -> OtlpSettings {
    let endpoint = format!("http://{}/", server.address);
    OtlpSettings { endpoint, metrics_seconds: 0, ..OtlpSettings::default() }
}

fn flow(number: u8) -> Flow {
    let source = [10, 0, 0, number].into();
    Flow { source, destination: [10, 0, 1, 1].into(), protocol: 6, source_port: 1_234, destination_port: 80 }
}

fn path(flow: Flow, received_at: u64) -> Output {
    let hop = |node| Hop { node_id: NodeId(node), ingress_interface: Some(1), egress_interface: Some(2) };
    Output::Observation(Observation::Path(PathObservation {
        flow,
        path: Path::new(&[hop(7), hop(8)]),
        hop_latency: vec![Some(900), Some(1_200)],
        hops_expected: None,
        received_at: Nanos(received_at),
        origin: Origin::MdStack,
    }))
}

/// Every span that arrived, in order.
fn spans(server: &Server) -> Vec<Span> {
    let requests = server.taken();
    let messages = requests.iter().map(|request| {
        assert!(request.head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{}", request.head);
        assert!(request.head.to_lowercase().contains("content-type: application/x-protobuf\r\n"));
        ExportTraceServiceRequest::decode(request.body.as_slice()).unwrap()
    });
    let resources = messages.flat_map(|message| message.resource_spans);
    let scopes = resources.flat_map(|resource| {
        assert_eq!(attribute(&resource.resource.unwrap().attributes, "service.name"), "inband");
        resource.scope_spans
    });
    scopes.flat_map(|scope| scope.spans).collect()
}

fn attribute(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    match found.and_then(|attribute| attribute.value.as_ref()?.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("{key}: {other:?} in {attributes:?}"),
    }
}
