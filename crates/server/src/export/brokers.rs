//! What can be set about brokers?

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::message::Topic;
use crate::settings::quantity;

/// Messages to NATS JetStream: `[nats]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NatsSettings {
    /// Servers, separated by commas: `nats://` or `tls://`; empty: nothing is sent. Default empty.
    pub url: String,
    /// What subjects begin with; the topic follows: `inband.paths`. Default `inband`.
    pub subject: String,
    /// The stream, which is made where it is not there; empty: somebody else makes it. Default `INBAND`.
    pub stream: String,
    /// How long a stream that is made keeps messages. Default `7d`.
    #[serde(with = "quantity::time")]
    pub retain: Duration,
    /// Token to show; empty: none. Default empty.
    pub token: String,
    /// File with credentials (JWT and seed); empty: none. Default empty.
    pub credentials: PathBuf,
    /// File with the certificates that vouch for the servers, PEM; empty: those of the system. Default empty.
    pub authorities: PathBuf,
    /// What is sent: `paths`, `events`, `ledger`, `observations`. Default all but the last.
    pub what: Vec<Topic>,
    /// Messages that may wait in memory; more are dropped and counted. Default 100,000.
    pub queue: u64,
    /// Directory of what waits to be acknowledged. Default `inband-spool/nats`.
    pub spool: PathBuf,
    /// How large it may be; then the oldest messages are dropped and counted. Default `1GB`.
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
