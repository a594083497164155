//! Who is told of events over HTTP: `[[webhook]]`.

use std::path::PathBuf;

use inband_model::{EventKind, Severity};
use serde::{Deserialize, Serialize};

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
