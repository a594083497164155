//! The output to NATS JetStream.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::context::{PublishAckFuture, PublishError, PublishErrorKind};
use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{Client, ConnectOptions, HeaderMap, ServerAddr};
use inband_model::Names;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout, timeout_at};

use super::answer::Answer;
use super::broker::{self, Broker, Delivery, Parcel, Wanted};
use super::brokers::NatsSettings;
use super::delivery::Export;
use super::error::ExportError;
use super::message::Topics;
use super::tally::Tally;
use crate::trust::Authorities;

/// Starts sending.
pub(super) fn start(
    settings: &NatsSettings,
    names: &Arc<Names>,
    tally: Arc<Tally>,
) -> Result<Export<Topics>, ExportError> {
    let credentials = credentials(settings, tally.output())?;
    let wanted = Wanted {
        what: &settings.what,
        queue: settings.queue,
        spool: &settings.spool,
        spool_bytes: settings.spool_size,
        names,
    };
    let nats = Nats { settings: settings.clone(), credentials, connected: None };
    broker::start(&wanted, nats, tally)
}

/// Checks the settings of the output with a name; returns its credentials, if it has any.
///
/// # Errors
/// A setting is invalid, or a file cannot be read.
pub(super) fn credentials(settings: &NatsSettings, output: &str) -> Result<Option<String>, ExportError> {
    let wrong = |what: String| ExportError::Setting { output: output.to_owned(), what };
    let is_part =
        |part: &str| !part.is_empty() && !part.contains(|letter: char| " *>\t\r\n".contains(letter));
    if !settings.subject.split('.').all(is_part) {
        let what = format!("subject = \"{}\" is not the beginning of a subject", settings.subject);
        return Err(wrong(what));
    }
    if settings.stream.contains(|letter: char| letter.is_whitespace() || ".*>/\\".contains(letter)) {
        return Err(wrong(format!("stream = \"{}\" is no name of a stream", settings.stream)));
    }
    for url in settings.url.split(',').map(str::trim) {
        let server = url.parse::<ServerAddr>();
        let server = server.map_err(|error| wrong(format!("url = \"{}\": {error}", settings.url)))?;
        if url.is_empty() || !matches!(server.scheme(), "nats" | "tls") {
            let what = "each has to begin with nats:// or tls://, with commas between them";
            return Err(wrong(format!("url = \"{}\": {what}", settings.url)));
        }
    }
    let unreadable = |path: &Path| {
        let (output, path) = (output.to_owned(), path.to_owned());
        move |source| ExportError::Read { output, path, source }
    };
    let (credentials, authorities) = (&settings.credentials, &settings.authorities);
    let credentials = match credentials.as_os_str().is_empty() {
        true => None,
        false => Some(std::fs::read_to_string(credentials).map_err(unreadable(credentials))?),
    };
    if !authorities.as_os_str().is_empty() {
        Authorities::read(authorities).map_err(unreadable(authorities))?;
    }
    Ok(credentials)
}

/// The output's state.
struct Nats {
    settings: NatsSettings,
    credentials: Option<String>,
    connected: Option<Connection>,
}

impl Broker for Nats {
    fn deliver(&mut self, batch: &[Parcel], left: Duration) -> Delivery {
        let connection = match self.connected.take() {
            Some(connection) => connection,
            None => match Connection::open(&self.settings, self.credentials.as_deref(), left) {
                Ok(connection) => connection,
                Err(why) => return away(0, why),
            },
        };
        let delivery = connection.publish(&self.settings.subject, batch, left);
        match delivery.next {
            // The client would reconnect by itself and send what it holds after what is sent again.
            Answer::Away { .. } => connection.close(),
            Answer::Taken | Answer::TakenInPart { .. } | Answer::Refused(_) => {
                self.connected = Some(connection);
            }
        }
        delivery
    }
}

/// A connection, with the runtime that keeps it alive between batches.
struct Connection {
    runtime: Runtime,
    client: Client,
    context: Context,
}

impl Connection {
    fn open(
        settings: &NatsSettings,
        credentials: Option<&str>,
        left: Duration,
    ) -> Result<Connection, String> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("nats").enable_all().build();
        let runtime = runtime.map_err(|error| format!("no thread: {error}"))?;
        let opened = runtime.block_on(async { timeout(left, connect(settings, credentials)).await });
        match opened {
            Ok(Ok((client, context))) => Ok(Connection { runtime, client, context }),
            Ok(Err(why)) => Err(why),
            Err(_) => Err("it does not answer".to_owned()),
        }
    }

    fn publish(&self, subject: &str, batch: &[Parcel], left: Duration) -> Delivery {
        if self.client.connection_state() != State::Connected {
            return away(0, "the connection is lost".to_owned());
        }
        self.runtime.block_on(publish(&self.context, subject, batch, left))
    }

    /// Closes the connection, with everything pending in it.
    fn close(self) {
        let Connection { runtime, client, context } = self;
        drop((client, context));
        runtime.shutdown_timeout(MAX_CLOSE);
    }
}

/// Connects, and creates the stream if configured.
async fn connect(settings: &NatsSettings, credentials: Option<&str>) -> Result<(Client, Context), String> {
    let mut options = ConnectOptions::new().name("inband").connection_timeout(MAX_CONNECT);
    if !settings.token.is_empty() {
        options = options.token(settings.token.clone());
    }
    if let Some(credentials) = credentials {
        options = options.credentials(credentials).map_err(|error| format!("credentials: {error}"))?;
    }
    if !settings.authorities.as_os_str().is_empty() {
        let authorities = Authorities::read(&settings.authorities)
            .map_err(|error| format!("authorities: {}: {error}", settings.authorities.display()))?;
        options = options.tls_client_config((*authorities.client()).clone());
    }
    let client = options.connect(&settings.url).await.map_err(|error| error.to_string())?;
    let context = jetstream::new(client.clone());
    if !settings.stream.is_empty() {
        let stream = Config {
            name: settings.stream.clone(),
            subjects: vec![format!("{}.>", settings.subject)],
            max_age: settings.retain,
            ..Config::default()
        };
        let made = context.get_or_create_stream(stream).await;
        made.map_err(|error| format!("stream {}: {error}", settings.stream))?;
    }
    Ok((client, context))
}

/// Sends a batch, then awaits the acknowledgement of each message in order.
async fn publish(context: &Context, subject: &str, batch: &[Parcel], left: Duration) -> Delivery {
    let mut waiting = Vec::with_capacity(batch.len());
    let mut failed = None;
    for parcel in batch {
        match send(context, subject, parcel).await {
            Ok(acknowledgement) => waiting.push(acknowledgement),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    let mut acknowledged = 0;
    let until = Instant::now() + left;
    for acknowledgement in waiting {
        let next = match timeout_at(until, acknowledgement.into_future()).await {
            Ok(Ok(_)) => {
                acknowledged += 1;
                continue;
            }
            Ok(Err(error)) => judge(&error),
            Err(_) => Answer::Away { why: "it does not acknowledge".to_owned(), again: None },
        };
        return Delivery { acknowledged, next, may_have_more: true };
    }
    // A message that the client did not send has not arrived; those before it are acknowledged.
    Delivery { acknowledged, next: failed.map_or(Answer::Taken, |error| judge(&error)), may_have_more: false }
}

async fn send(context: &Context, subject: &str, parcel: &Parcel) -> Result<PublishAckFuture, PublishError> {
    let mut headers = HeaderMap::new();
    headers.insert(NATS_MESSAGE_ID, parcel.id.as_str());
    let subject = format!("{subject}.{}", parcel.topic.name());
    context.publish_with_headers(subject, headers, parcel.body.clone().into()).await
}

/// The answer that an error means.
fn judge(error: &PublishError) -> Answer {
    let why = error.to_string();
    match error.kind() {
        PublishErrorKind::MaxPayloadExceeded => Answer::Refused(why),
        // The same message is too large for the stream tomorrow.
        _ if is_too_large(error) => Answer::Refused(why),
        // Every other cause may go away: a stream may be created, a disk may have room again.
        _ => Answer::Away { why, again: None },
    }
}

/// Whether the stream takes no message of this size.
fn is_too_large(error: &PublishError) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<jetstream::Error>());
    cause.is_some_and(|cause| cause.error_code() == ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM)
}

fn away(acknowledged: usize, why: String) -> Delivery {
    Delivery { acknowledged, next: Answer::Away { why, again: None }, may_have_more: false }
}

/// Longest time to connect to one server.
const MAX_CONNECT: Duration = Duration::from_secs(5);
/// Longest time to close a connection.
const MAX_CLOSE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
