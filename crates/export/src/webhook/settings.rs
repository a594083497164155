//! The settings of webhooks: `[[webhook]]`.

use std::path::PathBuf;

use inband_model::{EventKind, Severity};
use serde::{Deserialize, Serialize};

/// A receiver of events: an entry of `[[webhook]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookSettings {
    /// Its name in counts and messages; empty: `webhook-1` for the first, and so on. Default empty.
    pub name: String,
    /// Where to post: `http://` or `https://`. Required.
    pub url: String,
    /// What is posted: `json`, or `alertmanager` for `/api/v2/alerts` of Alertmanager. Default `json`.
    pub kind: WebhookKind,
    /// Minimum severity: `info`, `warning` or `critical`. Default `warning`.
    pub severity: Severity,
    /// Kinds of events; empty: every kind. Default empty.
    pub kinds: Vec<EventKind>,
    /// Bearer token; empty: none. Default empty.
    pub token: String,
    /// PEM file with the certificates of trusted authorities; empty: those that browsers trust. Default
    /// empty.
    pub authorities: PathBuf,
    /// URL of this collector for readers of a message; empty: that of `api.listen`. Default empty.
    pub collector_url: String,
    /// Longest time an attempt may take, milliseconds. Default 10,000.
    pub timeout_ms: u64,
    /// Attempts for each message, the first included. Default 8.
    pub attempts: u32,
    /// Pause after the first attempt, doubled after each further one, up to a minute; milliseconds. Default
    /// 500.
    pub pause_ms: u64,
    /// Events that may be queued; more are dropped and counted. Default 10,000.
    pub queue: u64,
    /// How often active events are repeated to Alertmanager, seconds; they expire there after four times as
    /// long. Default 60.
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

/// The format of the request body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WebhookKind {
    /// An object with the events, as in the API.
    #[default]
    Json,
    /// A list of alerts, as Alertmanager takes them.
    Alertmanager,
}
