//! Paths as traces, and counts as metrics, to a receiver of OTLP over HTTP. Each has a thread and a connection of its own.

mod answer;
mod choice;
mod details;
mod message;
mod metrics;
mod trace;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use inband_model::{HopColumns, PathObservation};
use prost::Message;
use serde::{Deserialize, Serialize};

use super::ExportError;
use super::http::{Hear, Poster, Target};
use super::queue::{Messages, Next};
use super::retry::Retry;
use super::stage::{self, Beside, Export, Work};
use super::tally::Tally;
use crate::names::Names;
use choice::Sampled;
use details::Details;
use message::Service;
use metrics::Reporter;

pub(super) use metrics::Source;

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
    /// The attribute `service.instance.id`; empty: one that is made of the machine's name and `api.listen`, and the same
    /// after a restart. Default empty.
    pub instance: String,
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
            instance: String::new(),
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

/// Starts to send; `seed` tells this collector from others.
pub(super) fn start(
    settings: &OtlpSettings,
    seed: &str,
    source: Source,
    tally: Arc<Tally>,
) -> Result<Export<Sampled>, ExportError> {
    let endpoint = settings.endpoint.trim_end_matches('/');
    let poster = |signal: &str, hear: Hear| {
        let target = Target {
            url: &format!("{endpoint}/v1/{signal}"),
            content_type: "application/x-protobuf",
            token: &settings.token,
            authorities: &settings.authorities,
            timeout: Duration::from_millis(settings.timeout_ms.max(1)),
            hear,
        };
        Poster::new(tally.output(), &target)
    };
    let (traces, metrics) = (poster("traces", answer::of_traces)?, poster("metrics", answer::of_metrics)?);
    let service = Arc::new(Service::new(&settings.instance, seed));
    let reporter = Reporter {
        poster: metrics,
        service: Arc::clone(&service),
        every: Duration::from_secs(settings.metrics_seconds),
        source: Arc::clone(&source),
        started_ns: now_ns(),
    };
    let metrics: Option<Beside> = match settings.metrics_seconds {
        0 => None,
        _ => Some(Box::new(move |tally, ending| reporter.run(tally, ending))),
    };
    let retry =
        Retry { attempts: settings.attempts, first: FIRST_PAUSE, longest: LONGEST_PAUSE, part: "traces" };
    let choice = Sampled::new(settings);
    let work = move |work| {
        Tracer { poster: traces, service, source, retry, details: Details::default(), work }.run()
    };
    stage::start_beside(choice, settings.queue, Arc::clone(&tally), work, metrics)
}

/// What runs on the thread of traces.
struct Tracer {
    poster: Poster,
    service: Arc<Service>,
    source: Source,
    retry: Retry,
    details: Details,
    work: Work<Item>,
}

impl Tracer {
    fn run(mut self) {
        loop {
            match self.work.outlet.next(PATIENCE) {
                Next::Item(Item::Hops(hops)) => self.details.add(hops.iter()),
                Next::Item(Item::Path(path)) => self.send(*path),
                Next::Nothing => {}
                Next::End => return,
            }
        }
    }

    /// Sends a trace of this path, and of those that wait behind it.
    fn send(&mut self, first: PathObservation) {
        let mut paths = vec![first];
        while paths.len() < MOST_AT_ONCE {
            match self.work.outlet.next(Duration::ZERO) {
                Next::Item(Item::Path(path)) => paths.push(*path),
                Next::Item(Item::Hops(hops)) => self.details.add(hops.iter()),
                Next::Nothing | Next::End => break,
            }
        }
        let unknown = Names::default();
        let names = self.source.get().map_or(&unknown, |(_, metrics)| metrics.names());
        let of = |path: &PathObservation| trace::spans(path, names, |node| self.details.of(&path.flow, node));
        let spans = paths.iter().flat_map(of);
        let body = self.service.traces(spans.collect()).encode_to_vec();
        let Work { tally, ending, .. } = &self.work;
        // Each span that is rejected may be of another trace, so as many traces count as rejected.
        self.retry.deliver(paths.len() as u64, tally, ending, |left| self.poster.post(&body, left));
    }
}

/// The time of day, nanoseconds since 1970.
fn now_ns() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}

/// How long the thread waits for messages before it looks again.
const PATIENCE: Duration = Duration::from_secs(1);
/// Traces in one message.
const MOST_AT_ONCE: usize = 128;
/// Pause behind the first attempt, and the longest one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests;
