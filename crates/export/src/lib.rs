//! Exports of what a collector concludes: webhooks, JSON Lines, OTLP, NATS and Kafka.
//!
//! Each output is a stage with a thread of its own behind a bounded queue, and counts every message: `queue`
//! and `tally`. Reading order: `stage` (the interface to the collector), those two, `delivery`, then the
//! outputs: `webhook`, `jsonl`, `otlp`, `nats` and `kafka` behind a `broker` with a `spool`. They share
//! `message`, `http` and `retry`; `trust` decides which servers are trusted.

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
mod same_file;
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
pub use self::tally::failure_reasons;
pub use self::trust::{Authorities, agent};
pub use self::webhook::{WebhookKind, WebhookSettings};

use self::patience::Patience;
use self::tally::Tally;

/// The running outputs.
#[derive(Debug, Default)]
pub struct Exports {
    tallies: Vec<Arc<Tally>>,
    /// The source of exported metrics.
    source: otlp::Source,
    /// Set when a replay is interrupted; `None`: nothing waits for outputs.
    interrupted: Option<Arc<AtomicBool>>,
}

impl Exports {
    /// Starts every configured output and returns their stages; messages show these names beside numbers.
    ///
    /// # Errors
    /// A setting is invalid, or a thread cannot be started.
    pub fn start(
        settings: &ExportSettings<'_>,
        names: &Arc<Names>,
    ) -> Result<(Exports, Vec<Box<dyn Stage>>), ExportError> {
        Exports::default().start_all(settings, names)
    }

    /// Checks every configured output, without starting or creating anything.
    ///
    /// # Errors
    /// A setting is invalid, or an output is not built in.
    pub fn check(settings: &ExportSettings<'_>) -> Result<(), ExportError> {
        let mut exports = Exports::default();
        for (index, webhook) in settings.webhook.iter().enumerate() {
            let tally = exports.tally(&webhook.name, || usual_name(index))?;
            webhook::poster(webhook, tally.output())?;
        }
        if !settings.jsonl.path.as_os_str().is_empty() {
            exports.tally("jsonl", String::new)?;
        }
        if !settings.otlp.endpoint.is_empty() {
            otlp::posters(settings.otlp, exports.tally("otlp", String::new)?.output())?;
        }
        if !settings.nats.url.is_empty() {
            check_nats(settings.nats, exports.tally("nats", String::new)?.output())?;
        }
        if !settings.kafka.brokers.is_empty() {
            check_kafka(settings.kafka, exports.tally("kafka", String::new)?.output())?;
        }
        Ok(())
    }

    /// Starts every configured output for a replay, which waits for outputs slower than itself, up to five
    /// seconds for one that neither accepts nor refuses a message, until `interrupted` is set.
    ///
    /// # Errors
    /// A setting is invalid, or a thread cannot be started.
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
            let tally = exports.tally(&webhook.name, || usual_name(index))?;
            stages.push(Box::new(webhook::start(webhook, &settings.api_url, names, tally)?));
        }
        if !settings.jsonl.path.as_os_str().is_empty() {
            let tally = exports.tally("jsonl", String::new)?;
            stages.push(Box::new(jsonl::start(settings.jsonl, names, tally)?));
        }
        if !settings.otlp.endpoint.is_empty() {
            let tally = exports.tally("otlp", String::new)?;
            let (seed, source) = (machine(settings.listen), Arc::clone(&exports.source));
            stages.push(Box::new(otlp::start(settings.otlp, &seed, names, source, tally)?));
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

    /// Sets the source of exported metrics; before that, none are sent.
    pub fn measure(&self, source: impl MetricsSource + 'static) {
        // The first source is kept.
        let _ = self.source.set(Box::new(source));
    }

    /// The counts of every output.
    #[must_use]
    pub fn ledgers(&self) -> Vec<ExportLedger> {
        self.tallies.iter().map(|tally| tally.ledger()).collect()
    }

    /// A new tally with this name, or its usual one if empty.
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

/// The name of a webhook without one, by its index.
fn usual_name(index: usize) -> String {
    format!("webhook-{}", index + 1)
}

#[cfg(feature = "nats")]
fn check_nats(settings: &NatsSettings, output: &str) -> Result<(), ExportError> {
    nats::credentials(settings, output).map(drop)
}

#[cfg(not(feature = "nats"))]
fn check_nats(_: &NatsSettings, _: &str) -> Result<(), ExportError> {
    Err(missing("nats"))
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
fn check_kafka(settings: &KafkaSettings, output: &str) -> Result<(), ExportError> {
    kafka::check(settings).map_err(|what| ExportError::Setting { output: output.to_owned(), what })
}

#[cfg(not(feature = "kafka"))]
fn check_kafka(_: &KafkaSettings, _: &str) -> Result<(), ExportError> {
    Err(missing("kafka"))
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

/// The error for an output that is not built in.
#[cfg(not(all(feature = "nats", feature = "kafka")))]
fn missing(feature: &str) -> ExportError {
    let what = format!("this program was built without it: cargo build --release --features {feature}");
    ExportError::Setting { output: feature.to_owned(), what }
}

/// Identifies this collector: the machine's name and the address of the API.
fn machine(listen: SocketAddr) -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    // A port chosen by the kernel differs after each start.
    let process = if listen.port() == 0 { std::process::id() } else { 0 };
    format!("{} {listen} {process}", name.trim())
}

// The README's program is compiled as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
