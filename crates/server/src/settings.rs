//! The settings of the monitoring system: `collector.toml`.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU8;
use std::path::PathBuf;
use std::time::Duration;

use inband_collector::{CollectorSettings, EventSettings, LedgerSettings, PathSettings, PortSettings};
use inband_export::{
    ExportSettings, JsonlSettings, KafkaSettings, NatsSettings, OtlpSettings, WebhookSettings,
};
use inband_model::{Prefix, quantity};
use inband_store::StoreSettings;
use serde::{Deserialize, Serialize};

/// All settings of the monitoring system: `collector.toml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// `[process]`: the user of the process.
    pub process: ProcessSettings,
    /// `[receive]`: reception of reports.
    pub receive: ReceiveSettings,
    /// `[api]`: the HTTP API.
    pub api: ApiSettings,
    /// `[store]`: the store of history.
    pub store: HistorySettings,
    /// `[names]`: names of nodes, interfaces, hosts and subnets.
    pub names: NameSettings,
    /// `[ledger]`: accounting of reports.
    pub ledger: LedgerSettings,
    /// `[paths]`: tracking of flows.
    pub paths: PathSettings,
    /// `[ports]`: state of nodes and interfaces.
    pub ports: PortSettings,
    /// `[events]`: detection and announcement of events.
    pub events: EventSettings,
    /// `[[webhook]]`: events over HTTP.
    pub webhook: Vec<WebhookSettings>,
    /// `[jsonl]`: messages to files.
    pub jsonl: JsonlSettings,
    /// `[otlp]`: traces and metrics to an OTLP receiver.
    pub otlp: OtlpSettings,
    /// `[nats]`: messages to NATS JetStream.
    pub nats: NatsSettings,
    /// `[kafka]`: messages to Kafka.
    pub kafka: KafkaSettings,
}

impl Settings {
    /// The settings of the collector.
    #[must_use]
    pub fn collector(&self) -> CollectorSettings {
        CollectorSettings {
            ledger: self.ledger.clone(),
            paths: self.paths.clone(),
            ports: self.ports.clone(),
            events: self.events.clone(),
            lenient: self.receive.lenient,
            ..CollectorSettings::default()
        }
    }
}

impl Settings {
    /// The settings of the outputs.
    #[must_use]
    pub fn exports(&self) -> ExportSettings<'_> {
        let scheme = if self.api.tls_certificate.as_os_str().is_empty() { "http" } else { "https" };
        ExportSettings {
            webhook: &self.webhook,
            jsonl: &self.jsonl,
            otlp: &self.otlp,
            nats: &self.nats,
            kafka: &self.kafka,
            listen: self.api.listen,
            api_url: format!("{scheme}://{}{}", self.api.listen, self.api.base_path),
        }
    }
}

/// The user of the process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProcessSettings {
    /// The user that root switches to once ports and certificate are open. Default empty: the user that
    /// started it.
    pub user: String,
}

/// Names for what reports identify by number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NameSettings {
    /// File with `[[node]]`, `[[interface]]`, `[[host]]` and `[[subnet]]`, as `inband convert` writes it from
    /// a topology. Default empty: numbers only.
    pub file: PathBuf,
}

/// The HTTP API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ApiSettings {
    /// Address of the API, the metrics and the health endpoints. Default `127.0.0.1:8080`.
    #[serde(with = "quantity::address")]
    pub listen: SocketAddr,
    /// Token that callers must present as `Authorization: Bearer`; empty: none. Must not be empty where
    /// `listen` is not a loopback address. Default empty.
    pub token: String,
    /// A second token that grants reading, but neither acknowledging nor silencing events; empty: none.
    /// Requires `token`. Default empty.
    pub read_token: String,
    /// The path under which a reverse proxy publishes the API, such as `/inband`; requests come with or
    /// without it. Default empty.
    pub base_path: String,
    /// Whether browsers get the web page at `/`. Default true.
    pub page: bool,
    /// File with the certificate and its chain, PEM; it enables TLS. It is read again when it changes.
    /// Default empty: no TLS.
    pub tls_certificate: PathBuf,
    /// File with the certificate's key, PEM. Default empty.
    pub tls_key: PathBuf,
    /// Maximum number of concurrent connections. A further one evicts the one that has been silent, slow or
    /// idle for longest. Default 256.
    pub max_connections: usize,
    /// Maximum number of concurrent connections of one peer: an IPv4 address, or the first 64 bits of an IPv6
    /// address. Default 128.
    pub max_connections_per_peer: usize,
    /// Maximum number of concurrent streams (`/api/v1/stream`); a further one evicts the slowest or oldest.
    /// Default 64.
    pub max_streams: usize,
    /// Maximum time for a TLS handshake, and for the headers of a request, seconds. Default 10.
    pub header_seconds: u64,
    /// Maximum time for the body of a request, seconds. Default 10.
    pub body_seconds: u64,
    /// Maximum time between two requests of a connection, seconds. Default 60.
    pub idle_seconds: u64,
    /// Maximum time in which a caller reads nothing of an answer, and by which it may be behind 16,384 bytes
    /// a second, seconds. Default 30.
    pub unread_seconds: u64,
    /// Maximum time of an SQL query, seconds. Default 10.
    pub query_seconds: u64,
    /// Maximum memory of an SQL query, and maximum length of its answer, bytes. Twice as much is for answers
    /// above 524,288 bytes, of any kind, that are not sent yet. Default 268,435,456.
    pub query_bytes: usize,
    /// Maximum number of rows of the answer to an SQL query. Default 100,000.
    pub query_rows: usize,
    /// Approximate maximum memory for values of nodes, interfaces, queues and links in the last ten minutes,
    /// bytes; 0: they are not kept. Default 268,435,456.
    pub window_bytes: usize,
}

impl Default for ApiSettings {
    fn default() -> ApiSettings {
        ApiSettings {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            token: String::new(),
            read_token: String::new(),
            base_path: String::new(),
            page: true,
            tls_certificate: PathBuf::new(),
            tls_key: PathBuf::new(),
            max_connections: 256,
            max_connections_per_peer: 128,
            max_streams: 64,
            header_seconds: 10,
            body_seconds: 10,
            idle_seconds: 60,
            unread_seconds: 30,
            query_seconds: 10,
            query_bytes: 256 << 20,
            query_rows: 100_000,
            window_bytes: 256 << 20,
        }
    }
}

/// The store of history, and its limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistorySettings {
    /// The directory, created if missing; empty: no history is kept. Default `inband-data`.
    pub path: PathBuf,
    /// How long history is kept, such as `36h`, `7d`, `1y`. Default `7d`.
    #[serde(with = "quantity::time")]
    pub retain: Duration,
    /// Maximum size of the history, such as `500MB`, `20GB`, `1TB`. Default `20GB`.
    #[serde(with = "quantity::size")]
    pub max_size: u64,
    /// How long single tables are kept, such as `minutes = "1y"`. Default: `retain`, ten times as long for
    /// `minutes`, `seconds`, `link_minutes` and `totals`, and sixty times for `hours`.
    #[serde(with = "quantity::times", skip_serializing_if = "BTreeMap::is_empty")]
    pub retain_tables: BTreeMap<String, Duration>,
}

impl Default for HistorySettings {
    fn default() -> HistorySettings {
        let StoreSettings { path, retain, retain_tables, max_size_bytes: max_size, .. } =
            StoreSettings::default();
        HistorySettings { path, retain, max_size, retain_tables }
    }
}

impl HistorySettings {
    /// The settings of the store; `None` if no history is kept.
    #[must_use]
    pub fn store(&self) -> Option<StoreSettings> {
        let HistorySettings { path, retain, retain_tables, max_size } = self.clone();
        let store = StoreSettings {
            path,
            retain,
            retain_tables,
            max_size_bytes: max_size,
            ..StoreSettings::default()
        };
        (!self.path.as_os_str().is_empty()).then_some(store)
    }
}

/// Reception of reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReceiveSettings {
    /// Addresses to receive reports of every version on; `[::]` receives IPv6 only, and `0.0.0.0` beside it
    /// IPv4. Default `127.0.0.1:32766`.
    #[serde(with = "quantity::addresses")]
    pub listen: Vec<SocketAddr>,
    /// Number of sockets and threads for each address, 1 to 255. Default 1.
    #[serde(with = "quantity::threads")]
    pub workers: NonZeroU8,
    /// Prefixes from which reports are accepted; empty: all. Default empty.
    pub allow: Vec<Prefix>,
    /// Whether reports, and INT in them, are also parsed in the variants of deployed implementations that
    /// deviate from the formats. Default false.
    pub lenient: bool,
    /// Receive buffer of each socket, bytes. Without the capability `CAP_NET_ADMIN` the kernel grants at most
    /// `net.core.rmem_max`. Default 67,108,864: a tenth of a second of the reports of one fast switch.
    pub socket_buffer_bytes: u32,
    /// Maximum bytes waiting to be processed, for all sockets together; more is shed. Default 67,108,864.
    pub queue_bytes: usize,
    /// Bytes of the newest datagrams that are kept as received, for requests for a report's bytes and as
    /// evidence of events; 0: none. Default 67,108,864.
    pub recent_bytes: usize,
    /// Whether the threads that read the sockets run before everything that is not real-time, if the process
    /// is allowed to (`CAP_SYS_NICE`, or `ulimit -r 1`). They only move datagrams into the queue. Default
    /// true.
    pub run_first: bool,
}

impl Default for ReceiveSettings {
    fn default() -> ReceiveSettings {
        ReceiveSettings {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, REPORT_PORT))],
            workers: NonZeroU8::MIN,
            allow: Vec::new(),
            lenient: false,
            socket_buffer_bytes: 64 << 20,
            queue_bytes: 64 << 20,
            recent_bytes: 64 << 20,
            run_first: true,
        }
    }
}

/// The customary UDP port of reports.
pub(crate) const REPORT_PORT: u16 = 32_766;

#[cfg(test)]
mod tests;
