//! The output to Kafka.
//!
//! A batch from the spool is passed to the client whole, and the result of each message is awaited (`heard`).
//! Messages without a result in time are purged from the client, so that it holds nothing that is sent again
//! from the spool.

mod client;
mod heard;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use inband_model::Names;
use rdkafka::config::ClientConfig;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, PurgeConfig};

use super::answer::Answer;
use super::broker::{self, Broker, Delivery, MAX_AT_ONCE, Parcel, Wanted};
use super::brokers::KafkaSettings;
use super::delivery::Export;
use super::error::ExportError;
use super::message::Topics;
use super::tally::Tally;

use self::heard::{Fate, Heard};

/// Starts sending.
pub(super) fn start(
    settings: &KafkaSettings,
    names: &Arc<Names>,
    tally: Arc<Tally>,
) -> Result<Export<Topics>, ExportError> {
    let wanted = Wanted {
        what: &settings.what,
        queue: settings.queue,
        spool: &settings.spool,
        spool_bytes: settings.spool_size,
        names,
    };
    let kafka = Kafka::new(settings)
        .map_err(|what| ExportError::Setting { output: tally.output().to_owned(), what })?;
    broker::start(&wanted, kafka, tally)
}

/// Checks the settings, as far as possible without a client.
///
/// # Errors
/// A setting is invalid; contains the reason.
pub(super) fn check(settings: &KafkaSettings) -> Result<(), String> {
    client::check_topic(&settings.topic)?;
    client::config(settings).map(drop)
}

/// The connection to Kafka.
struct Kafka {
    config: ClientConfig,
    /// Prefix of topic names.
    topic: String,
    /// `None`: a new client is made before the next batch.
    client: Option<BaseProducer<Heard>>,
    /// Messages that are sent at once.
    at_once: usize,
    /// Ids of acknowledged messages behind one that is not.
    ahead: BTreeSet<String>,
}

impl Kafka {
    /// Checks the settings; does not connect.
    fn new(settings: &KafkaSettings) -> Result<Kafka, String> {
        client::check_topic(&settings.topic)?;
        let config = client::config(settings)?;
        let client = client::make(&config)?;
        let topic = settings.topic.clone();
        Ok(Kafka { config, topic, client: Some(client), at_once: MAX_AT_ONCE, ahead: BTreeSet::new() })
    }

    /// Records the messages that are acknowledged behind the first that is not; returns how many come before
    /// that.
    fn note(&mut self, batch: &[Parcel], fates: &[Fate]) -> usize {
        let acknowledged = fates.iter().take_while(|fate| **fate == Fate::Acknowledged).count();
        for (parcel, fate) in batch.iter().zip(fates).skip(acknowledged) {
            if *fate == Fate::Acknowledged {
                self.ahead.insert(parcel.id.clone());
            }
        }
        // Messages that are not pending in the spool are not sent again.
        let waits = |id: &String| batch[acknowledged..].iter().any(|parcel| parcel.id == *id);
        self.ahead.retain(waits);
        acknowledged
    }

    /// The result of a batch of which nothing was sent.
    fn unsent(&self, why: String) -> Delivery {
        Delivery { acknowledged: 0, next: away(why), may_have_more: !self.ahead.is_empty() }
    }

    /// The answer to the message after the acknowledged ones; sets how many are sent next.
    fn judge(&mut self, acknowledged: usize, fates: &[Fate], why: Option<String>) -> Answer {
        let all = fates.len();
        let answer = match fates.get(acknowledged) {
            None | Some(Fate::Acknowledged) => Answer::Taken,
            Some(Fate::Unsendable(error)) if is_refusal(error) => Answer::Refused(error.to_string()),
            // The broker refuses messages of one request together.
            Some(Fate::Failed(error)) if is_refusal(error) && all > 1 => {
                self.at_once = all / 2;
                return Answer::Taken;
            }
            Some(Fate::Failed(error)) if is_refusal(error) => Answer::Refused(error.to_string()),
            Some(Fate::Failed(error) | Fate::Unsendable(error)) if !is_silence(error) => {
                away(error.to_string())
            }
            Some(_) => away(match why {
                Some(why) => format!("it does not acknowledge: {why}"),
                None => "it does not acknowledge".to_owned(),
            }),
        };
        // The link may be too slow for all of them: halved when stuck, doubled otherwise.
        let is_stuck = acknowledged == 0 && matches!(answer, Answer::Away { .. });
        self.at_once = if is_stuck { (all / 2).max(1) } else { (self.at_once * 2).min(MAX_AT_ONCE) };
        answer
    }
}

impl Broker for Kafka {
    fn deliver(&mut self, batch: &[Parcel], left: Duration) -> Delivery {
        let deadline = Instant::now() + left;
        let client = match self.client.take().map_or_else(|| client::make(&self.config), Ok) {
            Ok(client) => client,
            Err(why) => return self.unsent(why),
        };
        let sent = &batch[..batch.len().min(self.at_once)];
        client.context().begin(sent.iter().map(|parcel| self.ahead.contains(&parcel.id)));
        hand_over(&client, &self.topic, sent, deadline);
        wait(&client, deadline);
        let is_empty = empty(&client);
        let (fates, why) = client.context().take();
        if is_empty && client.client().fatal_error().is_none() {
            self.client = Some(client);
        }
        let acknowledged = self.note(batch, &fates);
        let may_have_more = !self.ahead.is_empty() || fates[acknowledged..].iter().any(Fate::is_open);
        Delivery { acknowledged, next: self.judge(acknowledged, &fates, why), may_have_more }
    }

    fn handle_silence(&mut self) {
        // The client keeps its connection errors until it is polled.
        if let Some(client) = &self.client {
            client.poll(SHORT_POLL);
        }
    }
}

/// Passes the messages to the client, as far as it accepts them in time.
fn hand_over(client: &BaseProducer<Heard>, prefix: &str, batch: &[Parcel], deadline: Instant) {
    for (place, parcel) in batch.iter().enumerate() {
        if !client.context().is_waiting(place) {
            continue;
        }
        let topic = format!("{prefix}.{}", parcel.topic.name());
        let header = Header { key: "id", value: Some(parcel.id.as_str()) };
        let mut record = BaseRecord::with_opaque_to(&topic, place)
            .key(parcel.key.as_str())
            .payload(parcel.body.as_slice())
            .headers(OwnedHeaders::new().insert(header));
        client.context().note(place, Fate::HandedOver);
        while let Err((error, back)) = client.send(record) {
            let is_full = error.rdkafka_error_code() == Some(RDKafkaErrorCode::QueueFull);
            if is_full && Instant::now() < deadline {
                client.poll(SHORT_POLL);
                record = back;
                continue;
            }
            let is_for_all = !is_refusal(&error);
            client.context().note(place, Fate::Unsendable(error));
            if is_for_all {
                return;
            }
            break;
        }
    }
}

/// Waits until every message that was passed on has a result, or until the deadline.
fn wait(client: &BaseProducer<Heard>, deadline: Instant) {
    let start = Instant::now();
    while client.context().handed_over() > 0 && Instant::now() < deadline {
        client.poll(if start.elapsed() < SOON { SHORT_POLL } else { LONG_POLL });
    }
}

/// Purges messages without a result from the client; false if it does not return them.
fn empty(client: &BaseProducer<Heard>) -> bool {
    if client.context().handed_over() == 0 {
        return true;
    }
    client.purge(PurgeConfig::default().queue().inflight());
    wait(client, Instant::now() + MAX_PURGE);
    client.context().handed_over() == 0
}

/// Whether the error permanently refuses the message, or one of those in the same request.
fn is_refusal(error: &KafkaError) -> bool {
    // Every other cause may go away: a topic may be created, a permission granted.
    matches!(
        error.rdkafka_error_code(),
        Some(
            RDKafkaErrorCode::MessageSizeTooLarge
                | RDKafkaErrorCode::MessageBatchTooLarge
                | RDKafkaErrorCode::InvalidMessageSize
                | RDKafkaErrorCode::InvalidRecord
        )
    )
}

/// Whether the error reports only that there was no answer.
fn is_silence(error: &KafkaError) -> bool {
    matches!(
        error.rdkafka_error_code(),
        Some(
            RDKafkaErrorCode::MessageTimedOut
                | RDKafkaErrorCode::PurgeQueue
                | RDKafkaErrorCode::PurgeInflight
        )
    )
}

fn away(why: String) -> Answer {
    Answer::Away { why, again: None }
}

/// How long to poll the client at a time: at first, and later.
const SHORT_POLL: Duration = Duration::from_millis(1);
const LONG_POLL: Duration = Duration::from_millis(20);
const SOON: Duration = Duration::from_millis(100);
/// How long to wait for messages that were purged.
const MAX_PURGE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
