//! How is a message of OTLP put together?

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::{Metric, ResourceMetrics, ScopeMetrics};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};

/// Spans as they are posted to `/v1/traces`.
pub(super) fn traces(spans: Vec<Span>) -> ExportTraceServiceRequest {
    let scope = ScopeSpans { scope: Some(scope()), spans, ..ScopeSpans::default() };
    let resource =
        ResourceSpans { resource: Some(resource()), scope_spans: vec![scope], ..ResourceSpans::default() };
    ExportTraceServiceRequest { resource_spans: vec![resource] }
}

/// Metrics as they are posted to `/v1/metrics`.
pub(super) fn metrics(metrics: Vec<Metric>) -> ExportMetricsServiceRequest {
    let scope = ScopeMetrics { scope: Some(scope()), metrics, ..ScopeMetrics::default() };
    let resource = ResourceMetrics {
        resource: Some(resource()),
        scope_metrics: vec![scope],
        ..ResourceMetrics::default()
    };
    ExportMetricsServiceRequest { resource_metrics: vec![resource] }
}

/// An attribute whose value is a text.
pub(super) fn text(key: &str, value: impl Into<String>) -> KeyValue {
    attribute(key, Value::StringValue(value.into()))
}

/// An attribute whose value is a number; one that does not fit is the largest that does.
pub(super) fn number(key: &str, value: u64) -> KeyValue {
    attribute(key, Value::IntValue(i64::try_from(value).unwrap_or(i64::MAX)))
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn resource() -> Resource {
    let attributes = vec![text("service.name", "inband"), text("service.version", env!("CARGO_PKG_VERSION"))];
    Resource { attributes, ..Resource::default() }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope { name: "inband".to_owned(), ..InstrumentationScope::default() }
}
