//! Reports of probes in a collector's history.

use std::time::{Duration, Instant};

use anyhow::{Context, Error, anyhow};
use inband_model::Flow;
use serde_json::{Value, json};
use ureq::Agent;

use super::stack::{Ended, Hop, Seen, link_up};
use crate::collector_url::CollectorUrl;

/// Queries one collector.
pub(super) struct Client {
    agent: Agent,
    base: CollectorUrl,
    token: Option<String>,
    /// How far back a report is looked for, seconds.
    span_seconds: u64,
}

/// The number of stored reports of a flow, to recognise a later one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    reports: i64,
    /// Reports up to this time are not looked at, nanoseconds of the collector's clock.
    since: i64,
}

impl Client {
    /// `wait`: how long a report is waited for.
    pub(super) fn new(base: CollectorUrl, token: Option<String>, wait: Duration) -> Self {
        let config =
            Agent::config_builder().timeout_global(Some(PATIENCE)).http_status_as_error(false).build();
        Self { agent: config.new_agent(), base, token, span_seconds: wait.as_secs().saturating_add(60) }
    }

    pub(super) fn base(&self) -> &CollectorUrl {
        &self.base
    }

    /// Checks that the collector answers.
    ///
    /// # Errors
    /// The collector's error, or that it does not answer.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.query("SELECT count(*) FROM ledger WHERE time < 0").map(drop)
    }

    /// Counts the reports of a flow before a probe is sent.
    pub(super) fn mark(&self, flow: Flow) -> Result<Mark, Error> {
        self.count(flow, &format!("(unixepoch() - {}) * 1000000000", self.span_seconds))
    }

    /// Waits until no more reports of a flow come, at most for `wait`.
    pub(super) fn settle(&self, flow: Flow, wait: Duration) -> Result<(), Error> {
        let mut mark = self.mark(flow)?;
        let since = mark.since.to_string();
        let until = Instant::now() + wait;
        while Instant::now() < until {
            std::thread::sleep(QUIET);
            let later = self.count(flow, &since)?;
            if later == mark {
                break;
            }
            mark = later;
        }
        Ok(())
    }

    /// Counts the reports of a flow after a time, without a search of all of history.
    fn count(&self, flow: Flow, since: &str) -> Result<Mark, Error> {
        let sql = format!(
            "SELECT count(*) AS reports, {since} AS since FROM observations \
             WHERE {} AND time > {since} AND hop_index = 0",
            of(flow)
        );
        let rows = self.query(&sql)?;
        let number = |at: usize| rows.first().and_then(|row| row[at].as_i64()).unwrap_or_default();
        Ok(Mark { reports: number(0), since: number(1) })
    }

    /// The hops of the report that has arrived since `mark`, if one has.
    pub(super) fn look(&self, flow: Flow, mark: &Mark, remaining_hops: u8) -> Result<Option<Seen>, Error> {
        // The same time for both counts: otherwise reports that grow too old change the number.
        let since = mark.since.to_string();
        if self.count(flow, &since)? == *mark {
            return Ok(None);
        }
        let sql = format!(
            "SELECT time, reporter, hw_id, sequence, report_index, hop_count, dropped, node_id, ingress_interface, \
             egress_interface, hop_latency, queue_id, queue_occupancy, egress_utilization, ingress_timestamp, \
             egress_timestamp, node_name(node_id) FROM observations WHERE {} AND time > {since} ORDER BY time DESC, hop_index ASC LIMIT 256",
            of(flow)
        );
        let rows = self.query(&sql)?;
        let Some(first) = rows.first() else { return Ok(None) };
        let report = |row: &Value| (0..5).map(|at| row[at].clone()).collect::<Vec<_>>();
        let own: Vec<&Value> = rows.iter().filter(|row| report(row) == report(first)).collect();
        let count = first[5].as_u64().unwrap_or_default();
        let mut hops: Vec<Hop> = own.iter().filter(|_| count > 0).map(|row| hop(row)).collect();
        link_up(&mut hops);
        self.add_uncertainty(&mut hops);
        let is_dropped = first[6].as_i64() == Some(1);
        let ended = ended(&hops, first[1].as_u64(), is_dropped, remaining_hops);
        Ok(Some(Seen::reported(hops, ended)))
    }

    /// Adds by how much link latencies may be wrong.
    fn add_uncertainty(&self, hops: &mut [Hop]) {
        let Ok(Value::Array(links)) = self.get("/api/v1/links?limit=1000") else { return };
        for at in 1..hops.len() {
            let (from, to) = (hops[at - 1].node_id, hops[at].node_id);
            let is_it = |link: &&Value| {
                link["from"].as_u64() == Some(from.into()) && link["to"].as_u64() == Some(to.into())
            };
            hops[at].link_uncertainty =
                links.iter().find(is_it).and_then(|link| link["clock_uncertainty"].as_u64());
        }
    }

    /// Adds the names of nodes.
    pub(super) fn name(&self, hops: &mut [Hop]) {
        let Ok(Value::Array(nodes)) = self.get("/api/v1/nodes") else { return };
        for hop in hops {
            let node = nodes.iter().find(|node| node["node_id"].as_u64() == Some(hop.node_id.into()));
            hop.node = node.and_then(|node| node["name"].as_str()).map(str::to_owned);
        }
    }

    fn get(&self, path: &str) -> Result<Value, Error> {
        let mut request = self.agent.get(format!("{}{path}", self.base));
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let text = request.call()?.body_mut().with_config().limit(MAX_BYTES).read_to_string()?;
        Ok(serde_json::from_str(&text)?)
    }

    fn query(&self, sql: &str) -> Result<Vec<Value>, Error> {
        let url = format!("{}/api/v1/query", self.base);
        let mut request = self.agent.post(&url).header("Content-Type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let body = json!({ "sql": sql }).to_string();
        let mut answer =
            request.send(body).with_context(|| format!("no collector answers at {}", self.base))?;
        let text = answer.body_mut().with_config().limit(MAX_BYTES).read_to_string()?;
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        if !answer.status().is_success() {
            let why = value["error"].as_str().unwrap_or("it gives no reason");
            return Err(anyhow!("{url}: {} ({why})", answer.status()));
        }
        let rows = value["rows"].as_array().cloned();
        rows.ok_or_else(|| anyhow!("{url} answers something else than rows"))
    }
}

/// Where INT ended, according to a report in history, which has neither E nor M.
fn ended(hops: &[Hop], reporter: Option<u64>, is_dropped: bool, remaining_hops: u8) -> Ended {
    let is_last = hops.last().map(|last| Some(u64::from(last.node_id)) == reporter);
    match is_last {
        _ if is_dropped => Ended::Lost,
        None | Some(false) if hops.len() >= usize::from(remaining_hops) => Ended::HopsExceeded,
        None | Some(true) => Ended::Sink,
        Some(false) => Ended::MtuExceeded,
    }
}

/// The hop in a row, whose columns are in the order of the query.
fn hop(row: &Value) -> Hop {
    let narrow = |at: usize| row[at].as_u64();
    Hop {
        node_id: narrow(7).and_then(|id| u32::try_from(id).ok()).unwrap_or(u32::MAX),
        node: row[16].as_str().map(str::to_owned),
        ingress_interface: narrow(8).and_then(|id| u16::try_from(id).ok()),
        egress_interface: narrow(9).and_then(|id| u16::try_from(id).ok()),
        hop_latency: narrow(10),
        link_latency: None,
        link_uncertainty: None,
        queue_id: narrow(11).and_then(|id| u8::try_from(id).ok()),
        queue_occupancy: narrow(12).and_then(|bytes| u32::try_from(bytes).ok()),
        egress_utilization: narrow(13).and_then(|share| u32::try_from(share).ok()),
        ingress_timestamp: narrow(14),
        egress_timestamp: narrow(15),
    }
}

/// The SQL condition that selects the reports of a flow.
fn of(flow: Flow) -> String {
    format!(
        "source = '{}' AND destination = '{}' AND protocol = {} AND source_port = {} AND destination_port = {}",
        flow.source, flow.destination, flow.protocol, flow.source_port, flow.destination_port
    )
}

const PATIENCE: Duration = Duration::from_secs(5);
/// How long no report may come before none is expected any more.
const QUIET: Duration = Duration::from_millis(300);
const MAX_BYTES: u64 = 16 << 20;

#[cfg(test)]
mod tests;
