//! Views of the collector's current state.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use inband_collector::{FlowView, LinkView, QueueView};
use inband_model::api::{
    FlowPaths, ListQuestion, NamedLink, NamedNode, NamedPort, NamedQueue, Nothing, Window,
};
use inband_model::{Hop, NodeId};
use serde::Serialize;

use super::Shared;
use super::asked::Asked;
use super::history::flow_id;
use super::problem::Problem;
use crate::metrics::{self, Seen};
use crate::named::Named;
use crate::pipeline::Sight;
use crate::read_model::Flows;
use crate::windows::{Lately, LinkKey, PortKey, QueueKey, Sums};

/// The requested number of entries, 100 by default.
fn limit(wanted: &ListQuestion) -> usize {
    wanted.limit.unwrap_or(100).min(MAX_ANSWER)
}

/// Whether entries of a node are requested.
fn is_wanted(wanted: &ListQuestion, node: NodeId) -> bool {
    wanted.node.is_none_or(|wanted| node == NodeId(wanted))
}

/// The program runs.
pub(super) async fn health() -> &'static str {
    "ok\n"
}

/// The collector answers, and history is being written.
pub(super) async fn ready(State(state): State<Shared>) -> Result<&'static str, Problem> {
    let ready = state.look(|_| "ready\n").await?;
    match state.archive.as_ref().and_then(|archive| archive.trouble()) {
        None => Ok(ready),
        Some(trouble) => Err(Problem::unavailable(format!("history: {trouble}"))),
    }
}

/// Metrics for Prometheus.
pub(super) async fn metrics(State(state): State<Shared>) -> Result<Response, Problem> {
    let seen = state.read.metrics().await?;
    let of = Arc::clone(&state);
    let write = move || {
        let mut families = of.metrics.families(Seen::clone(&seen));
        families.extend(of.places.families());
        metrics::text(&families)
    };
    let text = state.aside.compute(write).await?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

pub(super) async fn ledger(
    State(state): State<Shared>,
    Asked(Nothing {}): Asked<Nothing>,
) -> Result<Response, Problem> {
    Ok(json(&*state.read.ledger().await?))
}

pub(super) async fn nodes(
    State(state): State<Shared>,
    Asked(wanted): Asked<ListQuestion>,
) -> Result<Response, Problem> {
    let nodes = state.read.nodes().await?;
    let lately = lately(&state, wanted.window).await?;
    let nodes = nodes.iter().filter(|node| is_wanted(&wanted, node.node_id));
    Ok(list(nodes.take(wanted.limit.unwrap_or(MAX_ANSWER)), |node| {
        let window = lately.as_deref().map(|lately| lately.node(node.node_id));
        NamedNode { window, ..state.names.of_node(node) }
    }))
}

pub(super) async fn links(
    State(state): State<Shared>,
    Asked(wanted): Asked<ListQuestion>,
) -> Result<Response, Problem> {
    let links = state.read.links().await?;
    let lately = lately(&state, wanted.window).await?;
    let names = Arc::clone(&state.names);
    let answer = move || {
        let is_at = |link: &&LinkView| is_wanted(&wanted, link.from) || is_wanted(&wanted, link.to);
        list(links.iter().filter(is_at).take(wanted.limit.unwrap_or(MAX_ANSWER)), |link| {
            let key: LinkKey = (link.from, link.egress_interface, link.to, link.ingress_interface);
            let window = lately.as_deref().map(|lately| lately.links.get(&key)?.values());
            NamedLink { window, ..names.of_link(link) }
        })
    };
    state.aside.compute(answer).await
}

pub(super) async fn topology(
    State(state): State<Shared>,
    Asked(Nothing {}): Asked<Nothing>,
) -> Result<Response, Problem> {
    let (nodes, links) = (state.read.nodes().await?, state.read.links().await?);
    let names = Arc::clone(&state.names);
    state.aside.compute(move || json(&names.of_topology(&nodes, &links))).await
}

pub(super) async fn interfaces(
    State(state): State<Shared>,
    Asked(wanted): Asked<ListQuestion>,
) -> Result<Response, Problem> {
    let ports = state.read.ports().await?;
    let lately = lately(&state, wanted.window).await?;
    let names = Arc::clone(&state.names);
    let answer = move || {
        let mut ports: Vec<_> = ports.iter().filter(|port| is_wanted(&wanted, port.node_id)).collect();
        ports.sort_unstable_by_key(|port| (port.node_id, port.egress_interface));
        list(ports.into_iter().take(wanted.limit.unwrap_or(MAX_ANSWER)), |port| {
            let key: PortKey = (port.node_id, port.egress_interface);
            let window = lately.as_deref().map(|lately| lately.ports.get(&key)?.values());
            NamedPort { window, ..names.of_port(port) }
        })
    };
    state.aside.compute(answer).await
}

/// The deepest queues first; with a window, by their depth in it.
pub(super) async fn queues(
    State(state): State<Shared>,
    Asked(wanted): Asked<ListQuestion>,
) -> Result<Response, Problem> {
    let queues = state.read.queues().await?;
    let limit = limit(&wanted);
    let Some(lately) = lately(&state, wanted.window).await? else {
        let deepest = queues.iter().filter(|queue| is_wanted(&wanted, queue.node_id)).take(limit);
        return Ok(list(deepest, |queue| state.names.of_queue(queue)));
    };
    let names = Arc::clone(&state.names);
    let answer = move || {
        let values = |queue: &QueueView| {
            let key: QueueKey = (queue.node_id, queue.egress_interface, queue.queue_id);
            lately.queues.get(&key)
        };
        let mut queues: Vec<_> = queues.iter().filter(|queue| is_wanted(&wanted, queue.node_id)).collect();
        queues.sort_by_cached_key(|queue| Reverse(values(queue).map(Sums::max)));
        list(queues.into_iter().take(limit), |queue| {
            let window = Some(values(queue).and_then(Sums::values));
            NamedQueue { window, ..names.of_queue(queue) }
        })
    };
    state.aside.compute(answer).await
}

/// The flows with the most reports first.
pub(super) async fn flows(
    State(state): State<Shared>,
    Asked(wanted): Asked<ListQuestion>,
) -> Result<Response, Problem> {
    let flows = state.read.flows().await?;
    let names = Arc::clone(&state.names);
    let answer = move || {
        let is_over_node = |flow: &FlowView<'_>| {
            let is_node = |hop: &Hop| is_wanted(&wanted, hop.node_id);
            wanted.node.is_none() || flow.path.is_some_and(|path| path.hops().iter().any(is_node))
        };
        let flows: Vec<_> = flows.busiest().filter(is_over_node).take(limit(&wanted)).collect();
        list(&flows, |flow| names.of_flow(flow))
    };
    state.aside.compute(answer).await
}

/// One flow with its recent paths.
pub(super) async fn flow(
    State(state): State<Shared>,
    Path(id): Path<String>,
    Asked(Nothing {}): Asked<Nothing>,
) -> Result<Response, Problem> {
    let id = flow_id(&id)?;
    let unknown = || Problem::not_found("no report on this flow came lately");
    let find =
        async |flows: Arc<Flows>| state.aside.compute(move || flows.by_id(id).map(|known| known.flow)).await;
    // An id is that of the same flow in an old snapshot: it serves unless the flow is newer.
    let mut known = None;
    if let Some(flows) = state.read.last_flows() {
        known = find(flows).await?;
    }
    if known.is_none() {
        known = find(state.read.flows().await?).await?;
    }
    let flow = known.ok_or_else(unknown)?;
    // Copied there and written here: the thread of reception does not wait for JSON.
    let copy = move |sight: &mut Sight<'_>| sight.collector.flow_snapshot_of(&flow);
    let copied = state.look(copy).await?.ok_or_else(unknown)?;
    let view = copied.flow(0);
    Ok(json(&FlowPaths { flow: state.names.of_flow(&view), paths: copied.paths(0).collect() }))
}

/// The recent values of a window; `None` if no window is requested.
async fn lately(state: &Shared, window: Option<Window>) -> Result<Option<Arc<Lately>>, Problem> {
    let Some(window) = window else { return Ok(None) };
    let Some(windows) = state.windows.clone() else {
        return Err(Problem::unavailable("no window is kept: api.window_bytes is 0"));
    };
    let now = state.read.now().await?.0 / 1_000_000_000;
    state.aside.compute(move || windows.lately(window, now)).await.map(Some)
}

/// A list of entries, each written by `named`.
pub(super) fn list<T, N: Serialize>(all: impl IntoIterator<Item = T>, named: impl Fn(T) -> N) -> Response {
    json(&all.into_iter().map(named).collect::<Vec<_>>())
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

/// Maximum number of entries in one answer.
pub(super) const MAX_ANSWER: usize = 10_000;
