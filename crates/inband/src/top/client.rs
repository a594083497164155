//! The client of a collector's API.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, anyhow, bail};
use inband_export::{Authorities, agent};
use inband_model::{EventView, LedgerView, QueueUnit};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ureq::Agent;

use crate::collector_url::CollectorUrl;

/// Queries the API of one collector.
pub(super) struct Client {
    agent: Agent,
    base: CollectorUrl,
    token: Option<String>,
}

/// One snapshot of what the collector reports.
pub(super) struct Seen {
    pub(super) at: Instant,
    pub(super) collector: String,
    pub(super) ledger: LedgerView,
    pub(super) interfaces: Vec<Interface>,
    pub(super) queues: Vec<Queue>,
    pub(super) flows: Vec<Flow>,
    pub(super) events: Vec<TitledEvent>,
}

/// Hop latencies of packets that leave a node by one of its interfaces.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Interface {
    pub(super) node_id: u32,
    pub(super) node_name: Option<String>,
    pub(super) egress_interface: Option<u16>,
    pub(super) interface_name: Option<String>,
    pub(super) latency: Option<Latency>,
}

/// Nanoseconds.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Latency {
    pub(super) last: u64,
    pub(super) max: u64,
    pub(super) p50: u64,
    pub(super) p99: u64,
}

/// A queue with its depth.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Queue {
    pub(super) node_id: u32,
    pub(super) node_name: Option<String>,
    pub(super) egress_interface: Option<u16>,
    pub(super) interface_name: Option<String>,
    pub(super) queue_id: u8,
    pub(super) recent: u32,
    pub(super) max: u32,
    #[serde(default)]
    pub(super) unit: Option<QueueUnit>,
    #[serde(default)]
    pub(super) recent_bytes: Option<u64>,
    #[serde(default)]
    pub(super) max_bytes: Option<u64>,
    pub(super) congested: bool,
}

/// A flow with its path.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Flow {
    pub(super) flow: inband_model::Flow,
    pub(super) source_name: Option<String>,
    pub(super) destination_name: Option<String>,
    pub(super) path: Option<inband_model::Path>,
    #[serde(default)]
    pub(super) path_names: Vec<Option<String>>,
    pub(super) hop_latency: Vec<Option<u64>>,
    pub(super) reports: u64,
}

/// An event with its key in readable names.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TitledEvent {
    #[serde(flatten)]
    pub(super) view: EventView,
    pub(super) title: String,
}

impl Client {
    /// A client of the collector at an address or URL. Over TLS, certificates are verified against
    /// `authorities`, or else against those that browsers trust.
    ///
    /// # Errors
    /// The file of authorities cannot be read, or holds no certificate.
    pub(super) fn new(
        collector: CollectorUrl,
        token: Option<String>,
        authorities: Option<&Path>,
    ) -> Result<Self, Error> {
        let read = |path| {
            Authorities::read(path)
                .with_context(|| format!("cannot read certificates from {}", path.display()))
        };
        let authorities = authorities.map(read).transpose()?;
        let config =
            Agent::config_builder().timeout_global(Some(MAX_WAIT)).http_status_as_error(false).build();
        let agent = agent(config, authorities.as_ref());
        Ok(Self { agent, base: collector, token })
    }

    /// Fetches everything that is shown.
    ///
    /// # Errors
    /// The collector does not answer, or not as expected.
    pub(super) fn look(&self) -> Result<Seen, Error> {
        Ok(Seen {
            at: Instant::now(),
            collector: self.base.to_string(),
            ledger: self.get("/api/v1/ledger")?,
            interfaces: self.get("/api/v1/interfaces")?,
            queues: self.get("/api/v1/queues?limit=20")?,
            flows: self.get("/api/v1/flows?limit=50")?,
            events: self.get("/api/v1/events?limit=50")?,
        })
    }

    fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        let url = format!("{}{path}", self.base);
        let mut request = self.agent.get(&url);
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let unreachable = || format!("no collector answers at {}", self.base);
        let mut answer = request.call().with_context(unreachable)?;
        let body = answer.body_mut().with_config().limit(MAX_BYTES).read_to_string();
        let body = body.with_context(unreachable)?;
        if !answer.status().is_success() {
            let problem: Value = serde_json::from_str(&body).unwrap_or_default();
            let error = problem["error"].as_str().unwrap_or("it gives no reason");
            bail!("{url}: {} ({error})", answer.status());
        }
        serde_json::from_str(&body).map_err(|error| anyhow!("{url} answers something else: {error}"))
    }
}

impl Seen {
    /// The snapshot as one JSON object.
    pub(super) fn json(&self) -> Value {
        let interfaces = self.interfaces.iter().map(|interface| {
            let latency = interface.latency.map(|latency| {
                json!({ "last": latency.last, "max": latency.max, "p50": latency.p50, "p99": latency.p99 })
            });
            json!({ "node_id": interface.node_id, "node_name": interface.node_name, "egress_interface": interface.egress_interface, "latency": latency })
        });
        let flows = self.flows.iter().map(|flow| {
            json!({ "flow": flow.flow, "path": flow.path, "path_names": flow.path_names, "hop_latency": flow.hop_latency, "reports": flow.reports })
        });
        json!({
            "ledger": self.ledger,
            "interfaces": interfaces.collect::<Vec<_>>(),
            "queues": self.queues,
            "flows": flows.collect::<Vec<_>>(),
            "events": self.events,
        })
    }
}

/// Timeout for an answer.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// Size limit of an answer, bytes.
const MAX_BYTES: u64 = 64 << 20;
