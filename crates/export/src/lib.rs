//! How what a collector concludes reaches other programs: webhooks, JSON Lines, OTLP, NATS and Kafka.
//!
//! Each output is a stage that hands over to a thread of its own behind a queue with a bound, and counts every message:
//! `queue` and `tally`. Reading order: `stage` (what a collector hands things to), those two, `delivery`, then the outputs: `webhook`, `jsonl`, `otlp`, `nats`
//! and `kafka` behind a `broker` with a `spool`. `message`, `http` and `retry` are what they
//! share; `trust` says which servers are trusted.

mod answer;
#[cfg(any(feature = "nats", feature = "kafka"))]
mod broker;
mod brokers;
mod delivery;
mod error;
mod http;
mod jsonl;
#[cfg(feature = "kafka")]
mod kafka;
mod message;
mod metrics;
mod named_event;
#[cfg(feature = "nats")]
mod nats;
mod otlp;
mod patience;
mod queue;
mod retry;
#[cfg(test)]
mod sample;
mod settings;
#[cfg(any(feature = "nats", feature = "kafka"))]
mod spool;
mod stage;
mod tally;
mod time_of_day;
mod trust;
mod webhook;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inband_model::{ExportLedger, Names};

pub use self::brokers::{KafkaProperty, KafkaSettings, NatsSettings};
pub use self::error::ExportError;
pub use self::jsonl::JsonlSettings;
pub use self::message::Topic;
pub use self::metrics::{Family, Kind, MetricsSource, Sample, Value};
pub use self::named_event::named_event;
pub use self::otlp::OtlpSettings;
pub use self::settings::ExportSettings;
pub use self::stage::{LEDGER_EVERY, Stage};
pub use self::trust::{Authorities, agent};
pub use self::webhook::{WebhookKind, WebhookSettings};

use self::patience::Patience;
use self::tally::Tally;

/// Every output that is set up, while it runs.
#[derive(Debug, Default)]
pub struct Exports {
    tallies: Vec<Arc<Tally>>,
    /// Where metrics come from that are sent.
    source: otlp::Source,
    /// Set when a replay is interrupted; `None`: nothing is replayed, and nothing waits for an output.
    interrupted: Option<Arc<AtomicBool>>,
}

impl Exports {
    /// Starts every output of the settings; messages have these names beside numbers. The stages are for the pipeline.
    ///
    /// # Errors
    /// A setting that cannot be followed, or a thread that cannot be started.
    pub fn start(
        settings: &ExportSettings<'_>,
        names: &Arc<Names>,
    ) -> Result<(Exports, Vec<Box<dyn Stage>>), ExportError> {
        Exports::default().start_all(settings, names)
    }

    /// Whether every output of the settings is built in, before anything is started.
    ///
    /// # Errors
    /// One that is not.
    pub fn check(settings: &ExportSettings<'_>) -> Result<(), ExportError> {
        #[cfg(not(feature = "nats"))]
        if !settings.nats.url.is_empty() {
            return Err(missing("nats"));
        }
        #[cfg(not(feature = "kafka"))]
        if !settings.kafka.brokers.is_empty() {
            return Err(missing("kafka"));
        }
        let _ = settings;
        Ok(())
    }

    /// Starts every output of the settings for a replay, which waits for those that are slower than it, until
    /// `interrupted` is set: up to five seconds for one that neither takes nor refuses a message.
    ///
    /// # Errors
    /// A setting that cannot be followed, or a thread that cannot be started.
    pub fn start_for_replay(
        settings: &ExportSettings<'_>,
        names: &Arc<Names>,
        interrupted: &Arc<AtomicBool>,
    ) -> Result<(Exports, Vec<Box<dyn Stage>>), ExportError> {
        let exports = Exports { interrupted: Some(Arc::clone(interrupted)), ..Exports::default() };
        exports.start_all(settings, names)
    }

    fn start_all(
        self,
        settings: &ExportSettings<'_>,
        names: &Arc<Names>,
    ) -> Result<(Exports, Vec<Box<dyn Stage>>), ExportError> {
        let mut exports = self;
        let mut stages: Vec<Box<dyn Stage>> = Vec::new();
        for (index, webhook) in settings.webhook.iter().enumerate() {
            let tally = exports.tally(&webhook.name, || format!("webhook-{}", index + 1))?;
            stages.push(Box::new(webhook::start(webhook, &settings.api_url, names, tally)?));
        }
        if !settings.jsonl.path.as_os_str().is_empty() {
            let tally = exports.tally("jsonl", String::new)?;
            stages.push(Box::new(jsonl::start(settings.jsonl, names, tally)?));
        }
        if !settings.otlp.endpoint.is_empty() {
            let tally = exports.tally("otlp", String::new)?;
            let (seed, source) = (machine(settings.listen), Arc::clone(&exports.source));
            stages.push(Box::new(otlp::start(settings.otlp, &seed, source, tally)?));
        }
        if !settings.nats.url.is_empty() {
            let tally = exports.tally("nats", String::new)?;
            stages.push(start_nats(settings.nats, names, tally)?);
        }
        if !settings.kafka.brokers.is_empty() {
            let tally = exports.tally("kafka", String::new)?;
            stages.push(start_kafka(settings.kafka, names, tally)?);
        }
        Ok((exports, stages))
    }

    /// Says where the metrics come from that are sent; before that, none are.
    pub fn measure(&self, source: impl MetricsSource + 'static) {
        // The first source stays.
        let _ = self.source.set(Box::new(source));
    }

    /// What became of every message, by output.
    #[must_use]
    pub fn ledgers(&self) -> Vec<ExportLedger> {
        self.tallies.iter().map(|tally| tally.ledger()).collect()
    }

    /// A new tally under the name that was given, or else under its usual one.
    fn tally(&mut self, name: &str, usual: impl FnOnce() -> String) -> Result<Arc<Tally>, ExportError> {
        let name = if name.is_empty() { usual() } else { name.to_owned() };
        if self.tallies.iter().any(|tally| tally.output() == name) {
            return Err(ExportError::Name(name));
        }
        let patience = self.interrupted.clone().map(Patience::new);
        let tally = Arc::new(Tally::new(name).with_patience(patience));
        self.tallies.push(Arc::clone(&tally));
        Ok(tally)
    }
}

#[cfg(feature = "nats")]
fn start_nats(
    settings: &NatsSettings,
    names: &Arc<Names>,
    tally: Arc<Tally>,
) -> Result<Box<dyn Stage>, ExportError> {
    Ok(Box::new(nats::start(settings, names, tally)?))
}

#[cfg(not(feature = "nats"))]
fn start_nats(_: &NatsSettings, _: &Arc<Names>, _: Arc<Tally>) -> Result<Box<dyn Stage>, ExportError> {
    Err(missing("nats"))
}

#[cfg(feature = "kafka")]
fn start_kafka(
    settings: &KafkaSettings,
    names: &Arc<Names>,
    tally: Arc<Tally>,
) -> Result<Box<dyn Stage>, ExportError> {
    Ok(Box::new(kafka::start(settings, names, tally)?))
}

#[cfg(not(feature = "kafka"))]
fn start_kafka(_: &KafkaSettings, _: &Arc<Names>, _: Arc<Tally>) -> Result<Box<dyn Stage>, ExportError> {
    Err(missing("kafka"))
}

/// What was not built in cannot be used.
#[cfg(not(all(feature = "nats", feature = "kafka")))]
fn missing(feature: &str) -> ExportError {
    let what = format!("this program was built without it: cargo build --release --features {feature}");
    ExportError::Setting { output: feature.to_owned(), what }
}

/// What tells this collector from others: the machine's name and the address of the API.
fn machine(listen: SocketAddr) -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    // A port of the kernel's choice is another one after each start.
    let process = if listen.port() == 0 { std::process::id() } else { 0 };
    format!("{} {listen} {process}", name.trim())
}

// The program in the README is compiled with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
