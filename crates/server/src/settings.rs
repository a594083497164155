//! What does `collector.toml` hold?

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

/// Everything that can be set about the monitoring system: `collector.toml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// `[process]`: as whom the collector runs.
    pub process: ProcessSettings,
    /// `[receive]`: where reports come in.
    pub receive: ReceiveSettings,
    /// `[api]`: where answers go out.
    pub api: ApiSettings,
    /// `[store]`: where history is kept.
    pub store: HistorySettings,
    /// `[names]`: how people call things.
    pub names: NameSettings,
    /// `[ledger]`: how reports are counted.
    pub ledger: LedgerSettings,
    /// `[paths]`: how flows are followed.
    pub paths: PathSettings,
    /// `[ports]`: what is kept of nodes and interfaces.
    pub ports: PortSettings,
    /// `[events]`: what is announced, and when.
    pub events: EventSettings,
    /// `[[webhook]]`: who is told of events over HTTP.
    pub webhook: Vec<WebhookSettings>,
    /// `[jsonl]`: messages in files.
    pub jsonl: JsonlSettings,
    /// `[otlp]`: traces and metrics to a receiver of OTLP.
    pub otlp: OtlpSettings,
    /// `[nats]`: messages to NATS JetStream.
    pub nats: NatsSettings,
    /// `[kafka]`: messages to Kafka.
    pub kafka: KafkaSettings,
}

impl Settings {
    /// What the collector is given.
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
    /// What outputs are given.
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

/// As whom the collector runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProcessSettings {
    /// The user that root becomes once ports and certificate are open. Default empty: the one that started it.
    pub user: String,
}

/// How people call what reports name by number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NameSettings {
    /// File with `[[node]]`, `[[interface]]`, `[[host]]` and `[[subnet]]`, as `inband convert` writes it of a topology.
    /// Default empty: numbers are all there is.
    pub file: PathBuf,
}

/// Where answers go out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ApiSettings {
    /// Address of the API, the metrics and the health endpoints. Default `127.0.0.1:8080`.
    #[serde(with = "quantity::address")]
    pub listen: SocketAddr,
    /// What callers have to show, as `Authorization: Bearer`; empty: nothing. Must not be empty where `listen` is not
    /// a loopback address. Default empty.
    pub token: String,
    /// A second token, whose callers may ask, but neither acknowledge nor silence events; empty: there is none. Needs
    /// `token` beside it. Default empty.
    pub read_token: String,
    /// The path under which a reverse proxy shows the API, such as `/inband`; requests come with it or without it.
    /// Default empty.
    pub base_path: String,
    /// Whether browsers are shown the web page at `/`. Default true.
    pub page: bool,
    /// File with the certificate and those that vouch for it, PEM; with it the API speaks TLS. It is read again when it
    /// changes. Default empty: no TLS.
    pub tls_certificate: PathBuf,
    /// File with the certificate's key, PEM. Default empty.
    pub tls_key: PathBuf,
    /// Connections at the same time. For one more, whoever has been silent, slow or idle for longest has to go.
    /// Default 256.
    pub max_connections: usize,
    /// Connections of one peer at the same time: an IPv4 address, or the first 64 bits of an IPv6 address. Default 128.
    pub max_connections_per_peer: usize,
    /// Connections that follow `/api/v1/stream` at the same time; for one more, the slowest or oldest has to go. Default 64.
    pub max_streams: usize,
    /// Longest time for a TLS handshake, and for the headers of a request, seconds. Default 10.
    pub header_seconds: u64,
    /// Longest time for the body of a request, seconds. Default 10.
    pub body_seconds: u64,
    /// Longest time between two requests of a connection, seconds. Default 60.
    pub idle_seconds: u64,
    /// Longest time in which a caller takes nothing of an answer, seconds. Default 30.
    pub unread_seconds: u64,
    /// Longest time a question in SQL may take, seconds. Default 10.
    pub query_seconds: u64,
    /// Most memory a question in SQL may take, bytes. Default 268,435,456.
    pub query_bytes: usize,
    /// Most rows the answer to a question in SQL may have. Default 100,000.
    pub query_rows: usize,
    /// Most memory for what nodes, interfaces, queues and links have shown in the last ten minutes, bytes, about; 0: that
    /// is not kept. Default 268,435,456.
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

/// Where history is kept, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistorySettings {
    /// The directory; made when it is not there; empty: nothing is kept. Default `inband-data`.
    pub path: PathBuf,
    /// How long history is kept, such as `36h`, `7d`, `1y`. Default `7d`.
    #[serde(with = "quantity::time")]
    pub retain: Duration,
    /// How large all of it may be, such as `500MB`, `20GB`, `1TB`. Default `20GB`.
    #[serde(with = "quantity::size")]
    pub max_size: u64,
    /// The same for single tables, such as `minutes = "1y"`. Default: `retain`, and ten times as long for `minutes`.
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
    /// What the store is given; `None` where nothing is kept.
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

/// Where reports come in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReceiveSettings {
    /// Addresses to receive reports on, of every version on each; `[::]` takes IPv6 alone, and `0.0.0.0` beside it IPv4.
    /// Default `127.0.0.1:32766`.
    #[serde(with = "quantity::addresses")]
    pub listen: Vec<SocketAddr>,
    /// Sockets and threads for each address, 1 to 255. Default 1.
    #[serde(with = "quantity::threads")]
    pub workers: NonZeroU8,
    /// Prefixes reports may come from; empty: any. Default empty.
    pub allow: Vec<Prefix>,
    /// Whether reports, and INT in them, are also read as deployed implementations write them where they depart from
    /// the formats. Default false.
    pub lenient: bool,
    /// Bytes the kernel may keep for each socket. Without the capability `CAP_NET_ADMIN` it grants at most
    /// `net.core.rmem_max`. Default 67,108,864: a tenth of a second of the reports of one fast switch.
    pub socket_buffer_bytes: u32,
    /// Bytes that may wait to be understood, for all sockets together; more is shed. Default 67,108,864.
    pub queue_bytes: usize,
    /// Bytes of the newest datagrams that are kept as they arrived, for those who ask for the bytes of a report and as the
    /// evidence of events; 0: none. Default 67,108,864.
    pub recent_bytes: usize,
    /// Whether the threads that empty the sockets run before everything that is not real-time, where the process may have
    /// that (`CAP_SYS_NICE`, or `ulimit -r 1`). They only move datagrams into the queue. Default true.
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

/// UDP port that reports are sent to by custom.
pub(crate) const REPORT_PORT: u16 = 32_766;

#[cfg(test)]
mod tests;
