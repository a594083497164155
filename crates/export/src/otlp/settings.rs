//! The settings of OTLP: `[otlp]`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Traces and metrics to an OTLP/HTTP receiver: `[otlp]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OtlpSettings {
    /// The receiver, such as `http://127.0.0.1:4318`; `/v1/traces` and `/v1/metrics` are appended. Empty:
    /// nothing is sent. Default empty.
    pub endpoint: String,
    /// Whether the paths of flows are sent as traces. Default true.
    pub traces: bool,
    /// Minimum time between two traces of one flow, seconds. Default 10.
    pub interval_seconds: u64,
    /// How often metrics are sent, seconds; 0: never. Default 15.
    pub metrics_seconds: u64,
    /// The attribute `service.instance.id`; empty: derived from the machine's name and `api.listen`, and
    /// unchanged by restarts. Default empty.
    pub instance: String,
    /// Bearer token; empty: none. Default empty.
    pub token: String,
    /// PEM file with the certificates of trusted authorities; empty: those that browsers trust. Default
    /// empty.
    pub authorities: PathBuf,
    /// Longest time an attempt may take, milliseconds. Default 10,000.
    pub timeout_ms: u64,
    /// Attempts for each message, the first included. Default 5.
    pub attempts: u32,
    /// Paths that may be queued; more are dropped and counted. Default 10,000.
    pub queue: u64,
}

impl Default for OtlpSettings {
    fn default() -> OtlpSettings {
        OtlpSettings {
            endpoint: String::new(),
            traces: true,
            interval_seconds: 10,
            metrics_seconds: 15,
            instance: String::new(),
            token: String::new(),
            authorities: PathBuf::new(),
            timeout_ms: 10_000,
            attempts: 5,
            queue: 10_000,
        }
    }
}
