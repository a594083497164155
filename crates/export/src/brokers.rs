//! The settings of brokers.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use inband_model::quantity;
use serde::{Deserialize, Serialize};

use super::message::Topic;

/// Messages to NATS JetStream: `[nats]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NatsSettings {
    /// Servers, separated by commas: `nats://` or `tls://`; empty: nothing is sent. Default empty.
    pub url: String,
    /// Prefix of subjects, followed by the topic: `inband.paths`. Default `inband`.
    pub subject: String,
    /// The stream, created if missing; empty: none is created. Default `INBAND`.
    pub stream: String,
    /// How long a stream that is created keeps messages. Default `7d`.
    #[serde(with = "quantity::time")]
    pub retain: Duration,
    /// Authentication token; empty: none. Default empty.
    pub token: String,
    /// File with credentials (JWT and seed); empty: none. Default empty.
    pub credentials: PathBuf,
    /// PEM file with the certificates of trusted authorities; empty: those of the system. Default empty.
    pub authorities: PathBuf,
    /// What is sent: `paths`, `events`, `ledger`, `observations`. Default all but the last.
    pub what: Vec<Topic>,
    /// Messages that may wait in memory; more are dropped and counted. Default 100,000.
    pub queue: u64,
    /// Directory of messages that are not yet acknowledged. Default `inband-spool/nats`.
    pub spool: PathBuf,
    /// Maximum size of that directory; the oldest messages beyond it are dropped and counted. Default `1GB`.
    #[serde(with = "quantity::size")]
    pub spool_size: u64,
}

impl Default for NatsSettings {
    fn default() -> NatsSettings {
        NatsSettings {
            url: String::new(),
            subject: "inband".to_owned(),
            stream: "INBAND".to_owned(),
            retain: Duration::from_secs(7 * 24 * 3600),
            token: String::new(),
            credentials: PathBuf::new(),
            authorities: PathBuf::new(),
            what: vec![Topic::Paths, Topic::Events, Topic::Ledger],
            queue: 100_000,
            spool: PathBuf::from("inband-spool/nats"),
            spool_size: 1_000_000_000,
        }
    }
}

/// Messages to Kafka: `[kafka]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KafkaSettings {
    /// Initial brokers, `HOST:PORT` separated by commas; empty: nothing is sent. Default empty.
    pub brokers: String,
    /// Prefix of topic names, followed by the topic: `inband.paths`. Default `inband`.
    pub topic: String,
    /// What is sent: `paths`, `events`, `ledger`, `observations`. Default all but the last.
    pub what: Vec<Topic>,
    /// Messages that may wait in memory; more are dropped and counted. Default 100,000.
    pub queue: u64,
    /// Directory of messages that are not yet acknowledged. Default `inband-spool/kafka`.
    pub spool: PathBuf,
    /// Maximum size of that directory; the oldest messages beyond it are dropped and counted. Default `1GB`.
    #[serde(with = "quantity::size")]
    pub spool_size: u64,
    /// Further client settings under their librdkafka names: TLS, SASL, compression. Default none.
    pub properties: BTreeMap<String, KafkaProperty>,
}

/// A client setting in TOML.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a text, a whole number, true or false")]
pub enum KafkaProperty {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
    /// True or false.
    Flag(bool),
}

impl fmt::Display for KafkaProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KafkaProperty::Text(text) => f.write_str(text),
            KafkaProperty::Number(number) => number.fmt(f),
            KafkaProperty::Flag(flag) => flag.fmt(f),
        }
    }
}

impl Default for KafkaSettings {
    fn default() -> KafkaSettings {
        KafkaSettings {
            brokers: String::new(),
            topic: "inband".to_owned(),
            what: vec![Topic::Paths, Topic::Events, Topic::Ledger],
            queue: 100_000,
            spool: PathBuf::from("inband-spool/kafka"),
            spool_size: 1_000_000_000,
            properties: BTreeMap::new(),
        }
    }
}
