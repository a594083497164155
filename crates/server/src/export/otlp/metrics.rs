//! How do metrics look in OTLP?

use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, Gauge, Metric, NumberDataPoint, Sum};

use super::exposition::{Family, Sample};
use super::message::text;

/// Counters as sums that only grow since the start, everything else as gauges; metrics without samples are left out.
pub(super) fn metrics(families: &[Family], started_ns: u64, now_ns: u64) -> Vec<Metric> {
    let metric = |family: &Family| Metric {
        name: family.name.clone(),
        description: family.help.clone(),
        unit: if family.name.contains("_seconds") { "s" } else { "1" }.to_owned(),
        data: Some(data(family, started_ns, now_ns)),
        ..Metric::default()
    };
    families.iter().filter(|family| !family.samples.is_empty()).map(metric).collect()
}

fn data(family: &Family, started_ns: u64, now_ns: u64) -> Data {
    let point = |sample: &Sample| NumberDataPoint {
        attributes: sample.labels.iter().map(|(name, value)| text(name, value)).collect(),
        start_time_unix_nano: if family.is_counter { started_ns } else { 0 },
        time_unix_nano: now_ns,
        value: Some(Value::AsDouble(sample.value)),
        ..NumberDataPoint::default()
    };
    let data_points = family.samples.iter().map(point).collect();
    if family.is_counter {
        let aggregation_temporality = AggregationTemporality::Cumulative.into();
        Data::Sum(Sum { data_points, aggregation_temporality, is_monotonic: true })
    } else {
        Data::Gauge(Gauge { data_points })
    }
}
