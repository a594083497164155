//! Who is told of events over HTTP?

mod body;
mod choice;
mod told;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use inband_model::{Event, EventKind, Severity};
use serde::{Deserialize, Serialize};

use super::ExportError;
use super::http::{ALL_TAKEN, Poster, Target};
use super::queue::{Messages, Next};
use super::retry::Retry;
use super::stage::{self, Export, Work};
use super::tally::Tally;
use crate::names::Names;
use body::Format;
use choice::Wanted;
use told::Told;

/// Somebody who is told of events: an entry of `[[webhook]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookSettings {
    /// Its name in counts and messages. Default empty: `webhook-1` for the first, and so on.
    pub name: String,
    /// Where to post: `http://` or `https://`. Must be given.
    pub url: String,
    /// What is posted: `json`, or `alertmanager` for `/api/v2/alerts` of Alertmanager. Default `json`.
    pub kind: WebhookKind,
    /// Least severity that is told: `info`, `warning` or `critical`. Default `warning`.
    pub severity: Severity,
    /// Kinds of events that are told; empty: every kind. Default empty.
    pub kinds: Vec<EventKind>,
    /// Bearer token to show; empty: none. Default empty.
    pub token: String,
    /// File with the certificates that vouch for the other side, PEM; empty: those that browsers trust. Default empty.
    pub authorities: PathBuf,
    /// Address of this collector as readers of a message reach it; empty: that of `api.listen`. Default empty.
    pub collector_url: String,
    /// Longest time an attempt may take, milliseconds. Default 10,000.
    pub timeout_ms: u64,
    /// Attempts for each message, the first included. Default 8.
    pub attempts: u32,
    /// Pause behind the first attempt, which doubles behind each further one, up to a minute; milliseconds. Default 500.
    pub pause_ms: u64,
    /// Events that may wait; more are dropped and counted. Default 10,000.
    pub queue: u64,
    /// How often Alertmanager is told of what goes on, seconds; it takes for over what it does not hear of for four times
    /// as long. Default 60.
    pub repeat_seconds: u64,
}

impl Default for WebhookSettings {
    fn default() -> WebhookSettings {
        WebhookSettings {
            name: String::new(),
            url: String::new(),
            kind: WebhookKind::Json,
            severity: Severity::Warning,
            kinds: Vec::new(),
            token: String::new(),
            authorities: PathBuf::new(),
            collector_url: String::new(),
            timeout_ms: 10_000,
            attempts: 8,
            pause_ms: 500,
            queue: 10_000,
            repeat_seconds: 60,
        }
    }
}

/// What is posted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WebhookKind {
    /// An object with the events as the API shows them.
    #[default]
    Json,
    /// A list of alerts, as Alertmanager takes them.
    Alertmanager,
}

impl Messages for Box<Event> {}

/// Starts to tell of events.
pub(super) fn start(
    settings: &WebhookSettings,
    api_url: &str,
    names: &Arc<Names>,
    tally: Arc<Tally>,
) -> Result<Export<Wanted>, ExportError> {
    let target = Target {
        url: &settings.url,
        content_type: "application/json",
        token: &settings.token,
        authorities: &settings.authorities,
        timeout: Duration::from_millis(settings.timeout_ms.max(1)),
        hear: ALL_TAKEN,
    };
    let poster = Poster::new(tally.output(), &target)?;
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
        longest: LONGEST_PAUSE,
        part: "",
    };
    let wanted = Wanted::new(settings.severity, &settings.kinds);
    let work = move |work| Webhook { poster, retry, format, told: Told::default(), work }.run();
    stage::start(wanted, settings.queue, tally, work)
}

/// What runs on the thread.
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

    /// Tells of an event, and of those that wait behind it.
    fn tell(&mut self, first: Box<Event>) {
        let mut events = vec![first];
        while events.len() < MOST_AT_ONCE
            && let Next::Item(event) = self.work.outlet.next(Duration::ZERO)
        {
            events.push(event);
        }
        let events: Vec<_> = events.into_iter().map(|event| self.told.as_it_was_told(*event)).collect();
        let Work { tally, ending, .. } = &self.work;
        let body = self.format.body(&events, now_ns());
        self.retry.deliver(events.len() as u64, tally, ending, |left| self.poster.post(&body, left));
        self.told.note(events);
    }

    /// Tells again of what goes on, so that it is not taken for over. A repetition is no message of its own.
    fn repeat(&mut self) {
        if self.format.kind != WebhookKind::Alertmanager {
            return;
        }
        for events in self.told.going_on().chunks(MOST_AT_ONCE) {
            if self.work.ending.left().is_some() {
                return;
            }
            let answer = self.poster.post(&self.format.body(events, now_ns()), None);
            self.work.tally.note_answer(&answer);
        }
    }
}

/// The time of day, nanoseconds since 1970.
fn now_ns() -> u64 {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}

/// Most events in one message.
const MOST_AT_ONCE: usize = 64;
/// Longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests;
