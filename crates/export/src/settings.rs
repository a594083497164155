//! The settings of all outputs, and what they need to know of the collector.

use std::net::SocketAddr;

use super::brokers::{KafkaSettings, NatsSettings};
use super::jsonl::JsonlSettings;
use super::otlp::OtlpSettings;
use super::webhook::WebhookSettings;

/// The settings of every output.
#[derive(Debug, Clone)]
pub struct ExportSettings<'a> {
    /// `[[webhook]]`.
    pub webhook: &'a [WebhookSettings],
    /// `[jsonl]`.
    pub jsonl: &'a JsonlSettings,
    /// `[otlp]`.
    pub otlp: &'a OtlpSettings,
    /// `[nats]`.
    pub nats: &'a NatsSettings,
    /// `[kafka]`.
    pub kafka: &'a KafkaSettings,
    /// Address of the API.
    pub listen: SocketAddr,
    /// The URL of the API as callers write it, for links back.
    pub api_url: String,
}
