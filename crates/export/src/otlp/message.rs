//! Messages of OTLP, with the attributes that name their sender.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::{Metric, ResourceMetrics, ScopeMetrics};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};

/// The sender: the attributes `service.*` of every message.
#[derive(Debug)]
pub(super) struct Service {
    instance_id: String,
}

impl Service {
    /// A service with this id; if empty, with an id derived from `seed`, which identifies the collector and
    /// survives restarts.
    pub(super) fn new(instance_id: &str, seed: &str) -> Self {
        let instance_id = if instance_id.is_empty() { uuid(seed) } else { instance_id.to_owned() };
        Self { instance_id }
    }

    /// Spans as they are posted to `/v1/traces`.
    pub(super) fn traces(&self, spans: Vec<Span>) -> ExportTraceServiceRequest {
        let scope = ScopeSpans { scope: Some(scope()), spans, ..ScopeSpans::default() };
        let resource = ResourceSpans {
            resource: Some(self.resource()),
            scope_spans: vec![scope],
            ..ResourceSpans::default()
        };
        ExportTraceServiceRequest { resource_spans: vec![resource] }
    }

    /// Metrics as they are posted to `/v1/metrics`.
    pub(super) fn metrics(&self, metrics: Vec<Metric>) -> ExportMetricsServiceRequest {
        let scope = ScopeMetrics { scope: Some(scope()), metrics, ..ScopeMetrics::default() };
        let resource = ResourceMetrics {
            resource: Some(self.resource()),
            scope_metrics: vec![scope],
            ..ResourceMetrics::default()
        };
        ExportMetricsServiceRequest { resource_metrics: vec![resource] }
    }

    fn resource(&self) -> Resource {
        let attributes = vec![
            text("service.name", "inband"),
            text("service.version", env!("CARGO_PKG_VERSION")),
            text("service.instance.id", self.instance_id.clone()),
        ];
        Resource { attributes, ..Resource::default() }
    }
}

/// A string attribute.
pub(super) fn text(key: &str, value: impl Into<String>) -> KeyValue {
    attribute(key, Value::StringValue(value.into()))
}

/// An integer attribute; values that do not fit are saturated.
pub(super) fn number(key: &str, value: u64) -> KeyValue {
    attribute(key, Value::IntValue(i64::try_from(value).unwrap_or(i64::MAX)))
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope { name: "inband".to_owned(), ..InstrumentationScope::default() }
}

/// A UUID of version 8 (RFC 9562), derived from the text: its 128-bit FNV-1a hash.
fn uuid(text: &str) -> String {
    let hash = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
    let hash = text.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, hash);
    let version_and_variant = (hash & !(0xf << 76 | 0b11 << 62)) | 0x8 << 76 | 0b10 << 62;
    let hex = format!("{version_and_variant:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::uuid;

    #[test]
    fn an_instance_has_the_same_uuid_always_and_another_one_has_another() {
        let id = uuid("collector 127.0.0.1:8080");
        assert_eq!(id, uuid("collector 127.0.0.1:8080"));
        assert_ne!(id, uuid("collector 127.0.0.1:8081"));
        let lengths: Vec<_> = id.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(&id[14..15], "8");
        assert!("89ab".contains(&id[19..20]), "{id}");
    }
}
