//! Events over HTTP.

mod body;
mod choice;
mod settings;
mod told;

use std::sync::Arc;
use std::time::{Duration, Instant};

use inband_model::{Event, Names};

use super::delivery::{self, Export, Work};
use super::error::ExportError;
use super::http::{ALL_TAKEN, Poster, Target};
use super::queue::{Messages, Next};
use super::retry::Retry;
use super::tally::Tally;
use super::time_of_day::now_ns;
use body::Format;
use choice::Wanted;
use told::Told;

pub use settings::{WebhookKind, WebhookSettings};

impl Messages for Box<Event> {}

/// Starts sending events.
pub(super) fn start(
    settings: &WebhookSettings,
    api_url: &str,
    names: &Arc<Names>,
    tally: Arc<Tally>,
) -> Result<Export<Wanted>, ExportError> {
    let poster = poster(settings, tally.output())?;
    let repeat = Duration::from_secs(settings.repeat_seconds.max(1));
    let collector_url = match settings.collector_url.trim_end_matches('/') {
        "" => api_url.to_owned(),
        url => url.to_owned(),
    };
    let names = Arc::clone(names);
    let format = Format { kind: settings.kind, collector_url, repeat, names };
    let retry = Retry {
        attempts: settings.attempts,
        first: Duration::from_millis(settings.pause_ms),
        longest: MAX_PAUSE,
        part: "",
    };
    let wanted = Wanted::new(settings.severity, &settings.kinds);
    let work = move |work| Webhook { poster, retry, format, told: Told::default(), work }.run();
    delivery::start(wanted, settings.queue, tally, work)
}

/// Prepares the client of the output with a name.
///
/// # Errors
/// A setting is invalid.
pub(super) fn poster(settings: &WebhookSettings, output: &str) -> Result<Poster, ExportError> {
    let target = Target {
        url: &settings.url,
        setting: ("url", &settings.url),
        content_type: "application/json",
        token: &settings.token,
        authorities: &settings.authorities,
        timeout: Duration::from_millis(settings.timeout_ms.max(1)),
        hear: ALL_TAKEN,
    };
    Poster::new(output, &target)
}

/// Runs the thread.
struct Webhook {
    poster: Poster,
    retry: Retry,
    format: Format,
    told: Told,
    work: Work<Box<Event>>,
}

impl Webhook {
    fn run(mut self) {
        let mut repeated_at = Instant::now();
        loop {
            let patience = self.format.repeat.saturating_sub(repeated_at.elapsed());
            match self.work.outlet.next(patience) {
                Next::Item(event) => self.tell(event),
                Next::Nothing => {}
                Next::End => return,
            }
            if repeated_at.elapsed() >= self.format.repeat {
                self.repeat();
                repeated_at = Instant::now();
            }
        }
    }

    /// Sends an event, together with the queued ones.
    fn tell(&mut self, first: Box<Event>) {
        let mut events = vec![first];
        while events.len() < MAX_AT_ONCE
            && let Next::Item(event) = self.work.outlet.next(Duration::ZERO)
        {
            events.push(event);
        }
        // One by one: the end of an event may follow its beginning in the same message.
        let told = |event: Box<Event>| match self.format.kind {
            WebhookKind::Alertmanager => self.told.take(*event),
            WebhookKind::Json => *event,
        };
        let events: Vec<_> = events.into_iter().map(told).collect();
        let Work { tally, ending, .. } = &self.work;
        let body = self.format.body(&events, now_ns());
        self.retry.deliver(events.len() as u64, tally, ending, |left| self.poster.post(&body, left));
    }

    /// Repeats the active events, so that they do not expire. A repetition does not count as a message.
    fn repeat(&mut self) {
        if self.format.kind != WebhookKind::Alertmanager {
            return;
        }
        for events in self.told.going_on().chunks(MAX_AT_ONCE) {
            if self.work.ending.left().is_some() {
                return;
            }
            let answer = self.poster.post(&self.format.body(events, now_ns()), None);
            self.work.tally.note_answer(&answer);
        }
    }
}

/// Maximum events per message.
const MAX_AT_ONCE: usize = 64;
/// Longest pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests;
