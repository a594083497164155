//! How do paths become traces, and counts become metrics, for a receiver of OTLP over HTTP?

mod choice;
mod details;
mod exposition;
mod message;
mod metrics;
mod trace;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use inband_model::{HopColumns, PathObservation};
use prost::Message;
use serde::{Deserialize, Serialize};

use super::ExportError;
use super::http::{Poster, Target};
use super::queue::{Messages, Next};
use super::retry::Retry;
use super::stage::{self, Export, Work};
use super::tally::Tally;
use crate::api::MetricsSource;
use choice::Sampled;
use details::Details;

/// Traces and metrics to a receiver of OTLP over HTTP: `[otlp]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OtlpSettings {
    /// The receiver, such as `http://127.0.0.1:4318`; `/v1/traces` and `/v1/metrics` are added. Empty: nothing is sent.
    /// Default empty.
    pub endpoint: String,
    /// Whether the paths of flows are sent as traces. Default true.
    pub traces: bool,
    /// Least time between two traces of one flow, seconds. Default 10.
    pub interval_seconds: u64,
    /// How often metrics are sent, seconds; 0: never. Default 15.
    pub metrics_seconds: u64,
    /// Bearer token to show; empty: none. Default empty.
    pub token: String,
    /// File with the certificates that vouch for the receiver, PEM; empty: those that browsers trust. Default empty.
    pub authorities: PathBuf,
    /// Longest time an attempt may take, milliseconds. Default 10,000.
    pub timeout_ms: u64,
    /// Attempts for each message, the first included. Default 5.
    pub attempts: u32,
    /// Paths that may wait; more are dropped and counted. Default 10,000.
    pub queue: u64,
}

impl Default for OtlpSettings {
    fn default() -> OtlpSettings {
        OtlpSettings {
            endpoint: String::new(),
            traces: true,
            interval_seconds: 10,
            metrics_seconds: 15,
            token: String::new(),
            authorities: PathBuf::new(),
            timeout_ms: 10_000,
            attempts: 5,
            queue: 10_000,
        }
    }
}

/// What goes to the thread.
#[derive(Debug)]
pub(super) enum Item {
    /// A path that becomes a trace.
    Path(Box<PathObservation>),
    /// What hops said lately, from which traces take their details.
    Hops(Box<HopColumns>),
}

impl Messages for Item {
    fn messages(&self) -> u64 {
        match self {
            Item::Path(_) => 1,
            Item::Hops(_) => 0,
        }
    }

    fn room(&self) -> u64 {
        match self {
            Item::Path(_) => 1,
            // They cost memory, and a trace without details is better than none.
            Item::Hops(hops) => hops.len() as u64 / 8,
        }
    }
}

/// Who is asked for metrics, once there is somebody.
pub(super) type Source = Arc<OnceLock<MetricsSource>>;

/// Starts to send.
pub(super) fn start(
    settings: &OtlpSettings,
    source: Source,
    tally: Arc<Tally>,
) -> Result<Export<Sampled>, ExportError> {
    let endpoint = settings.endpoint.trim_end_matches('/');
    let poster = |signal: &str| {
        let target = Target {
            url: &format!("{endpoint}/v1/{signal}"),
            content_type: "application/x-protobuf",
            token: &settings.token,
            authorities: &settings.authorities,
            timeout: Duration::from_millis(settings.timeout_ms.max(1)),
        };
        Poster::new(tally.output(), &target)
    };
    let (traces, metrics) = (poster("traces")?, poster("metrics")?);
    let retry = Retry { attempts: settings.attempts, first: FIRST_PAUSE, longest: LONGEST_PAUSE };
    let every = Duration::from_secs(settings.metrics_seconds);
    let choice = Sampled::new(settings);
    let work = move |work| {
        let details = Details::default();
        Otlp { traces, metrics, retry, every, source, details, started_ns: now_ns(), work }.run();
    };
    stage::start(choice, settings.queue, Arc::clone(&tally), work)
}

/// What runs on the thread.
struct Otlp {
    traces: Poster,
    metrics: Poster,
    retry: Retry,
    /// How often metrics are sent; zero: never.
    every: Duration,
    source: Source,
    details: Details,
    started_ns: u64,
    work: Work<Item>,
}

impl Otlp {
    fn run(mut self) {
        let mut sent_at = Instant::now();
        loop {
            match self.work.outlet.next(PATIENCE) {
                Next::Item(Item::Hops(hops)) => self.details.add(hops.iter()),
                Next::Item(Item::Path(path)) => self.send_paths(*path),
                Next::Nothing => {}
                Next::End => return,
            }
            if !self.every.is_zero() && sent_at.elapsed() >= self.every && self.work.ending.left().is_none() {
                sent_at = Instant::now();
                self.send_metrics();
            }
        }
    }

    /// Sends a trace of this path, and of those that wait behind it.
    fn send_paths(&mut self, first: PathObservation) {
        let mut paths = vec![first];
        while paths.len() < MOST_AT_ONCE {
            match self.work.outlet.next(Duration::ZERO) {
                Next::Item(Item::Path(path)) => paths.push(*path),
                Next::Item(Item::Hops(hops)) => self.details.add(hops.iter()),
                Next::Nothing | Next::End => break,
            }
        }
        let spans =
            paths.iter().flat_map(|path| trace::spans(path, |node| self.details.of(&path.flow, node)));
        let body = message::traces(spans.collect()).encode_to_vec();
        let Work { tally, ending, .. } = &self.work;
        self.retry.deliver(paths.len() as u64, tally, ending, |left| self.traces.post(&body, left));
    }

    /// Sends what `/metrics` says at this time; what cannot be delivered is out of date when it is tried again.
    fn send_metrics(&self) {
        let Some(text) = self.source.get().and_then(MetricsSource::text) else { return };
        let metrics = metrics::metrics(&exposition::parse(&text), self.started_ns, now_ns());
        let body = message::metrics(metrics).encode_to_vec();
        let Work { tally, ending, .. } = &self.work;
        tally.count_offered(1);
        let once = Retry { attempts: 1, ..self.retry.clone() };
        once.deliver(1, tally, ending, |left| self.metrics.post(&body, left));
    }
}

/// The time of day, nanoseconds since 1970.
fn now_ns() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}

/// How long the thread waits for messages before it looks at the time.
const PATIENCE: Duration = Duration::from_millis(200);
/// Traces in one message.
const MOST_AT_ONCE: usize = 128;
/// Pause behind the first attempt, and the longest one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests;
