//! What does the collector know at this time?

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use inband_model::{FlowId, LedgerView, NodeId};
use serde::{Deserialize, Serialize};

use super::Shared;
use super::asked::Asked;
use super::problem::Problem;
use crate::metrics::{self, Seen};
use crate::pipeline::Sight;

/// How many of something are wanted, and which.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Wanted {
    /// Most of them; 100 where nothing is said.
    limit: Option<usize>,
    /// Only those of this node.
    node: Option<u32>,
}

impl Wanted {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(100).min(MAX_ANSWER)
    }

    fn is_wanted(&self, node: NodeId) -> bool {
        self.node.is_none_or(|wanted| node == NodeId(wanted))
    }
}

/// The program runs.
pub(super) async fn health() -> &'static str {
    "ok\n"
}

/// The collector answers, and history is being written.
pub(super) async fn ready(State(state): State<Shared>) -> Result<&'static str, Problem> {
    let ready = state.look(|_| "ready\n").await?;
    match state.store.as_ref().and_then(|store| store.trouble()) {
        None => Ok(ready),
        Some(trouble) => Err(Problem::unavailable(format!("history: {trouble}"))),
    }
}

/// What Prometheus reads.
pub(super) async fn metrics(State(state): State<Shared>) -> Result<Response, Problem> {
    let seen = state.look(Seen::of).await?;
    let mut families = state.metrics.families(seen);
    families.extend(state.places.families());
    let text = metrics::text(&families);
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

pub(super) async fn ledger(State(state): State<Shared>) -> Result<Response, Problem> {
    // The view is a copy, so that it is written down elsewhere than where reports wait.
    let ledger: LedgerView = state.look(|sight| sight.ledger()).await?;
    Ok(json(&ledger))
}

pub(super) async fn nodes(
    State(state): State<Shared>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Response, Problem> {
    let mut nodes = state.look(|sight| sight.collector.nodes()).await?;
    nodes.retain(|node| wanted.is_wanted(node.node_id));
    nodes.truncate(wanted.limit.unwrap_or(MAX_ANSWER));
    Ok(list(&nodes, |node| state.names.of_node(node)))
}

pub(super) async fn links(
    State(state): State<Shared>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Response, Problem> {
    let mut links = state.look(|sight| sight.collector.sorted_links()).await?;
    links.retain(|link| wanted.is_wanted(link.from) || wanted.is_wanted(link.to));
    links.truncate(wanted.limit.unwrap_or(MAX_ANSWER));
    Ok(list(&links, |link| state.names.of_link(link)))
}

pub(super) async fn topology(State(state): State<Shared>) -> Result<Response, Problem> {
    let topology = state.look(|sight| sight.collector.topology()).await?;
    Ok(json(&state.names.of_topology(&topology)))
}

pub(super) async fn interfaces(
    State(state): State<Shared>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Response, Problem> {
    let most = wanted.limit.unwrap_or(MAX_ANSWER);
    let find = move |sight: &mut Sight<'_>| -> Vec<_> {
        sight.collector.ports().filter(|port| wanted.is_wanted(port.node_id)).collect()
    };
    let mut ports = state.look(find).await?;
    ports.sort_by_key(|port| (port.node_id, port.egress_interface));
    ports.truncate(most);
    Ok(list(&ports, |port| state.names.of_port(port)))
}

/// The deepest first.
pub(super) async fn queues(
    State(state): State<Shared>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Response, Problem> {
    let find = move |sight: &mut Sight<'_>| {
        let mut queues = sight.collector.deepest_queues(usize::MAX);
        queues.retain(|queue| wanted.is_wanted(queue.node_id));
        queues.truncate(wanted.limit());
        queues
    };
    Ok(list(&state.look(find).await?, |queue| state.names.of_queue(queue)))
}

/// Those with the most reports first.
pub(super) async fn flows(
    State(state): State<Shared>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Response, Problem> {
    let names = Arc::clone(&state.names);
    let find = move |sight: &mut Sight<'_>| {
        let most = if wanted.node.is_none() { wanted.limit() } else { usize::MAX };
        let mut flows = sight.collector.top_flows(most);
        if wanted.node.is_some() {
            flows.retain(|flow| {
                flow.path.is_some_and(|path| path.hops().iter().any(|hop| wanted.is_wanted(hop.node_id)))
            });
            flows.truncate(wanted.limit());
        }
        text(&flows.iter().map(|flow| names.of_flow(flow)).collect::<Vec<_>>())
    };
    Ok(written(state.look(find).await?))
}

/// One flow with the paths it has taken lately.
pub(super) async fn flow(State(state): State<Shared>, Path(id): Path<String>) -> Result<Response, Problem> {
    let wrong = || Problem::wrong(format!("`{id}` is not the id of a flow, a number"));
    let id = FlowId(id.parse().map_err(|_| wrong())?);
    let names = Arc::clone(&state.names);
    let find = move |sight: &mut Sight<'_>| {
        let flow = sight.collector.flow_by_id(id)?;
        let paths = sight.collector.flow_paths(&flow.flow);
        Some(text(&serde_json::json!({ "flow": names.of_flow(&flow), "paths": paths })))
    };
    let found = state.look(find).await?;
    found.map(written).ok_or_else(|| Problem::not_found("no report on this flow came lately"))
}

/// Many of something, each written as `named` has it.
pub(super) fn list<'a, T, N: Serialize>(all: &'a [T], named: impl Fn(&'a T) -> N) -> Response {
    json(&all.iter().map(named).collect::<Vec<_>>())
}

pub(super) fn json(what: &impl Serialize) -> Response {
    written(text(what))
}

pub(super) fn text(what: &impl Serialize) -> String {
    serde_json::to_string(what).unwrap_or_default()
}

pub(super) fn written(text: String) -> Response {
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}

/// Maximum number of anything in one answer.
pub(super) const MAX_ANSWER: usize = 10_000;
