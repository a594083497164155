//! Paths as traces and counts as metrics, to an OTLP/HTTP receiver, each with its own thread and connection.

mod answer;
mod choice;
mod details;
mod item;
mod message;
mod metrics;
mod settings;
mod trace;

use std::sync::Arc;
use std::time::Duration;

use inband_model::{Names, PathObservation};
use prost::Message;

use super::delivery::{self, Beside, Export, Work};
use super::error::ExportError;
use super::http::{Hear, Poster, Target};
use super::queue::Next;
use super::retry::Retry;
use super::tally::Tally;
use super::time_of_day::now_ns;
use choice::Sampled;
use details::Details;
use item::Item;
use message::Service;
use metrics::Reporter;

pub(super) use metrics::Source;
pub use settings::OtlpSettings;

/// Starts sending; `seed` identifies this collector.
pub(super) fn start(
    settings: &OtlpSettings,
    seed: &str,
    names: &Arc<Names>,
    source: Source,
    tally: Arc<Tally>,
) -> Result<Export<Sampled>, ExportError> {
    let [traces, metrics] = posters(settings, tally.output())?;
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
    let retry = Retry { attempts: settings.attempts, first: FIRST_PAUSE, longest: MAX_PAUSE, part: "traces" };
    let choice = Sampled::new(settings);
    let names = Arc::clone(names);
    let work = move |work| {
        Tracer { poster: traces, service, names, retry, details: Details::default(), work }.run();
    };
    delivery::start_beside(choice, settings.queue, Arc::clone(&tally), work, metrics)
}

/// Prepares the clients for traces and metrics of the output with a name.
///
/// # Errors
/// A setting is invalid.
pub(super) fn posters(settings: &OtlpSettings, output: &str) -> Result<[Poster; 2], ExportError> {
    let endpoint = settings.endpoint.trim_end_matches('/');
    let poster = |signal: &str, hear: Hear| {
        let target = Target {
            url: &format!("{endpoint}/v1/{signal}"),
            setting: ("endpoint", &settings.endpoint),
            content_type: "application/x-protobuf",
            token: &settings.token,
            authorities: &settings.authorities,
            timeout: Duration::from_millis(settings.timeout_ms.max(1)),
            hear,
        };
        Poster::new(output, &target)
    };
    Ok([poster("traces", answer::of_traces)?, poster("metrics", answer::of_metrics)?])
}

/// Runs the thread of traces.
struct Tracer {
    poster: Poster,
    service: Arc<Service>,
    names: Arc<Names>,
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

    /// Sends a trace of this path, together with the queued ones.
    fn send(&mut self, first: PathObservation) {
        let mut paths = vec![first];
        while paths.len() < MAX_AT_ONCE {
            match self.work.outlet.next(Duration::ZERO) {
                Next::Item(Item::Path(path)) => paths.push(*path),
                Next::Item(Item::Hops(hops)) => self.details.add(hops.iter()),
                Next::Nothing | Next::End => break,
            }
        }
        let of = |path: &PathObservation| {
            trace::spans(path, &self.names, |node| self.details.of(&path.flow, node))
        };
        let spans = paths.iter().flat_map(of);
        let body = self.service.traces(spans.collect()).encode_to_vec();
        let Work { tally, ending, .. } = &self.work;
        // Each rejected span may belong to a different trace, so as many traces count as rejected.
        self.retry.deliver(paths.len() as u64, tally, ending, |left| self.poster.post(&body, left));
    }
}

/// How long the thread waits for messages before it checks again.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum traces per message.
const MAX_AT_ONCE: usize = 128;
/// Pause after the first attempt, and the longest pause.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests;
