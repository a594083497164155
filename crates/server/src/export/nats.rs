//! How do messages reach NATS JetStream?

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::context::{PublishAckFuture, PublishError, PublishErrorKind};
use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions, HeaderMap};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::ExportError;
use super::broker::{self, Broker, Delivery, Parcel, Wanted};
use super::brokers::NatsSettings;
use super::message::Topics;
use super::retry::Answer;
use super::stage::Export;
use super::tally::Tally;

/// Starts to send.
pub(super) fn start(settings: &NatsSettings, tally: Arc<Tally>) -> Result<Export<Topics>, ExportError> {
    let wrong = |what: String| ExportError::Setting { output: tally.output().to_owned(), what };
    if settings.subject.is_empty() || settings.subject.contains(|letter: char| " *>\t\r\n".contains(letter)) {
        return Err(wrong(format!("subject = \"{}\" is not the beginning of a subject", settings.subject)));
    }
    let credentials = match settings.credentials.as_os_str().is_empty() {
        true => None,
        false => Some(read(&settings.credentials, &tally)?),
    };
    // The connection is looked after also while nothing is sent.
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("nats")
        .enable_all()
        .build()
        .map_err(|source| ExportError::Start { output: tally.output().to_owned(), source })?;
    let wanted = Wanted {
        what: &settings.what,
        queue: settings.queue,
        spool: &settings.spool,
        spool_bytes: settings.spool_size,
    };
    let nats = Nats { runtime, settings: settings.clone(), credentials, connected: None };
    broker::start(&wanted, nats, tally)
}

fn read(path: &Path, tally: &Tally) -> Result<String, ExportError> {
    let failed =
        |source| ExportError::Read { output: tally.output().to_owned(), path: path.to_owned(), source };
    std::fs::read_to_string(path).map_err(failed)
}

/// The connection to NATS.
struct Nats {
    runtime: Runtime,
    settings: NatsSettings,
    credentials: Option<String>,
    connected: Option<(Client, Context)>,
}

impl Broker for Nats {
    fn deliver(&mut self, batch: &[Parcel], left: Duration) -> Delivery {
        let Nats { runtime, settings, credentials, connected } = self;
        runtime.block_on(async {
            let (client, context) = match connected {
                Some(connected) => connected,
                none => match timeout(left, connect(settings, credentials.as_deref())).await {
                    Ok(Ok(fresh)) => none.insert(fresh),
                    Ok(Err(why)) => return away(0, why),
                    Err(_) => return away(0, "it does not answer".to_owned()),
                },
            };
            // The client connects again by itself, and would keep what it cannot send.
            if client.connection_state() != State::Connected {
                return away(0, "the connection is lost".to_owned());
            }
            publish(context, &settings.subject, batch, left).await
        })
    }
}

/// Connects, and makes the stream where it is to be made.
async fn connect(settings: &NatsSettings, credentials: Option<&str>) -> Result<(Client, Context), String> {
    let mut options = ConnectOptions::new().name("inband").connection_timeout(LONGEST_CONNECT);
    if !settings.token.is_empty() {
        options = options.token(settings.token.clone());
    }
    if let Some(credentials) = credentials {
        options = options.credentials(credentials).map_err(|error| format!("credentials: {error}"))?;
    }
    if !settings.authorities.as_os_str().is_empty() {
        options = options.add_root_certificates(settings.authorities.clone());
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

/// Sends a batch, and waits for the acknowledgement of each message in turn.
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
    for acknowledgement in waiting {
        match timeout(left, acknowledgement.into_future()).await {
            Ok(Ok(_)) => acknowledged += 1,
            Ok(Err(error)) => return Delivery { acknowledged, next: judge(&error) },
            Err(_) => return away(acknowledged, "it does not acknowledge".to_owned()),
        }
    }
    Delivery { acknowledged, next: failed.map_or(Answer::Taken, |error| judge(&error)) }
}

async fn send(context: &Context, subject: &str, parcel: &Parcel) -> Result<PublishAckFuture, PublishError> {
    let mut headers = HeaderMap::new();
    headers.insert(NATS_MESSAGE_ID, parcel.id.as_str());
    let subject = format!("{subject}.{}", parcel.topic.name());
    context.publish_with_headers(subject, headers, parcel.body.clone().into()).await
}

/// What an error says of a message.
fn judge(error: &PublishError) -> Answer {
    let why = error.to_string();
    match error.kind() {
        PublishErrorKind::MaxPayloadExceeded => Answer::Refused(why),
        // Everything else may be otherwise later: a stream may be made, a disk may have room again.
        _ => Answer::Away { why, again: None },
    }
}

fn away(acknowledged: usize, why: String) -> Delivery {
    Delivery { acknowledged, next: Answer::Away { why, again: None } }
}

/// Longest time to connect to one server.
const LONGEST_CONNECT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
