//! Metrics in OTLP, on a thread of their own so that a slow receiver of traces does not delay them.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, Gauge, Metric, NumberDataPoint, Sum};
use prost::Message;

use super::message::{Service, text};
use crate::answer::Answer;
use crate::http::Poster;
use crate::metrics::{Family, Kind, MetricsSource, Sample};
use crate::queue::Ending;
use crate::retry::Retry;
use crate::tally::Tally;
use crate::time_of_day::now_ns;

/// The source of metrics and names, once set.
pub(crate) type Source = Arc<OnceLock<Box<dyn MetricsSource>>>;

/// The state of the thread of metrics.
pub(super) struct Reporter {
    pub(super) poster: Poster,
    pub(super) service: Arc<Service>,
    pub(super) every: Duration,
    pub(super) source: Source,
    pub(super) started_ns: u64,
}

impl Reporter {
    /// Sends metrics until the output ends, and then the last ones.
    pub(super) fn run(self, tally: &Tally, ending: &Ending) {
        let mut wait = self.every;
        // Until when the receiver has asked to wait.
        let mut away_until = Instant::now();
        loop {
            ending.pause(wait);
            let is_last = ending.left().is_some();
            if is_last && Instant::now() < away_until {
                return;
            }
            let sent_at = Instant::now();
            let asked = self.send(tally, ending).unwrap_or_default().min(MAX_PAUSE);
            if is_last {
                return;
            }
            away_until = Instant::now() + asked;
            wait = self.every.saturating_sub(sent_at.elapsed()).max(asked);
        }
    }

    /// Sends the metrics of this moment, once: a second attempt would send outdated values. Returns how long
    /// the receiver asks to wait.
    fn send(&self, tally: &Tally, ending: &Ending) -> Option<Duration> {
        let families = self.source.get().and_then(|source| source.families())?;
        let metrics = of_families(&families, self.started_ns, now_ns());
        let body = self.service.metrics(metrics).encode_to_vec();
        tally.count_offered(1);
        let once = Retry { attempts: 1, first: Duration::ZERO, longest: Duration::ZERO, part: "metrics" };
        let mut asked = None;
        once.deliver(1, tally, ending, |left| {
            let answer = self.poster.post(&body, left);
            if let Answer::Away { again, .. } = answer {
                asked = again;
            }
            answer
        });
        asked
    }
}

/// Longest pause that a receiver may ask for.
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// Counters as cumulative sums since the start, everything else as gauges; metrics without samples are left
/// out.
fn of_families(families: &[Family], started_ns: u64, now_ns: u64) -> Vec<Metric> {
    let metric = |family: &Family| Metric {
        name: family.name.to_owned(),
        description: family.help.to_owned(),
        unit: unit(family.name).to_owned(),
        data: Some(data(family, started_ns, now_ns)),
        ..Metric::default()
    };
    families.iter().filter(|family| !family.samples.is_empty()).map(metric).collect()
}

/// The unit in the name of a metric, as UCUM writes it; none for counts and states. With `1`, receivers that
/// translate to Prometheus would rename gauges to `…_ratio`.
fn unit(name: &str) -> &'static str {
    let is = |unit: &str| name.split('_').any(|word| word == unit);
    match () {
        () if is("seconds") => "s",
        () if is("bytes") => "By",
        () => "",
    }
}

fn data(family: &Family, started_ns: u64, now_ns: u64) -> Data {
    let is_counter = family.kind == Kind::Counter;
    let point = |sample: &Sample| NumberDataPoint {
        attributes: sample.labels.iter().map(|(name, value)| text(name, value)).collect(),
        start_time_unix_nano: if is_counter { started_ns } else { 0 },
        time_unix_nano: now_ns,
        value: Some(Value::AsDouble(sample.value.as_f64())),
        ..NumberDataPoint::default()
    };
    let data_points = family.samples.iter().map(point).collect();
    if is_counter {
        let aggregation_temporality = AggregationTemporality::Cumulative.into();
        Data::Sum(Sum { data_points, aggregation_temporality, is_monotonic: true })
    } else {
        Data::Gauge(Gauge { data_points })
    }
}
