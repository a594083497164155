//! Flows that match a filter, in columns.

use std::cmp::Reverse;

use axum::extract::State;
use axum::response::Response;
use inband_collector::FlowView;
use inband_model::api::{CompletionQuestion, Exact, FlowColumns, FlowList, FlowSearchQuestion, FlowSort};
use inband_model::{FlowId, Names, Nanos};

use super::Shared;
use super::asked::Asked;
use super::filter::{self, Context, FlowFilter};
use super::problem::Problem;
use super::views::json;

pub(super) async fn search(
    State(state): State<Shared>,
    Asked(question): Asked<FlowSearchQuestion>,
) -> Result<Response, Problem> {
    let text = question.filter.as_deref().unwrap_or("");
    let filter = FlowFilter::parse(text, &state.names).map_err(|error| {
        let what = format!("the filter is wrong at character {}", error.at + 1);
        Problem::parameter("filter", what, error.expected)
    })?;
    let offset: usize = match question.after.as_deref().map(str::parse) {
        None => 0,
        Some(Ok(offset)) => offset,
        Some(Err(_)) => {
            let what = "after does not name a page";
            return Err(Problem::parameter("after", what, "the `next` of the page before"));
        }
    };
    let (now, flows) = (state.read.now().await?, state.read.flows().await?);
    let limit = question.limit.unwrap_or(DEFAULT_LIMIT) as usize;
    let names = std::sync::Arc::clone(&state.names);
    let found = state.aside.compute(move || {
        let all = flows.all();
        let changes = |place: usize| all.past_paths(place);
        let context = |place: usize| Context { now, changes: changes(place) };
        let mut ranked: Vec<(Reverse<u64>, FlowId, usize)> = Vec::new();
        for (place, flow) in all.flows().enumerate() {
            if filter.passes(&flow, context(place)) {
                ranked.push((Reverse(rank(&flow, question.sort, || changes(place))), flow.id, place));
            }
        }
        let found = ranked.len();
        // Only entries up to the end of the page must be sorted.
        let end = offset.saturating_add(limit);
        if end < found {
            ranked.select_nth_unstable(end);
            ranked.truncate(end);
        }
        ranked.sort_unstable();
        let page: Vec<usize> = ranked.into_iter().skip(offset).map(|(.., place)| place).collect();
        let base = page.iter().map(|place| all.flow(*place).first_seen).min().unwrap_or(now);
        let mut columns = FlowColumns::default();
        for place in &page {
            push(&mut columns, &all.flow(*place), changes(*place), base, &names);
        }
        let next = (offset + page.len() < found).then(|| (offset + page.len()).to_string());
        FlowList { found: found as u64, known: all.len() as u64, base: base.into(), columns, next }
    });
    Ok(json(&found.await?))
}

pub(super) async fn complete(
    State(state): State<Shared>,
    Asked(question): Asked<CompletionQuestion>,
) -> Result<Response, Problem> {
    if question.text.len() > MAX_FILTER_BYTES {
        let allowed = format!("at most {MAX_FILTER_BYTES} bytes");
        return Err(Problem::parameter("text", "the filter is too long", allowed));
    }
    Ok(json(&filter::complete(&question.text, question.caret, &state.names)))
}

/// The sort key of a flow.
fn rank(flow: &FlowView<'_>, sort: FlowSort, changes: impl FnOnce() -> usize) -> u64 {
    match sort {
        FlowSort::Worst => worst(flow).map_or(0, |(_, latency)| latency + 1),
        FlowSort::Latency => total(flow).map_or(0, |total| total + 1),
        FlowSort::Reports => flow.reports,
        FlowSort::Changes => changes() as u64,
        FlowSort::LastSeen => flow.last_seen.0,
        FlowSort::FirstSeen => flow.first_seen.0,
    }
}

/// Sum of the known hop latencies; `None` if none is known.
fn total(flow: &FlowView<'_>) -> Option<u64> {
    let known = || flow.hop_latency.iter().flatten().map(|latency| latency.0);
    known().next().map(|_| known().sum())
}

/// The hop with the longest latency, and that latency.
fn worst(flow: &FlowView<'_>) -> Option<(u32, u64)> {
    let known = (0..).zip(flow.hop_latency).filter_map(|(at, latency)| Some((at, latency.as_ref()?.0)));
    known.max_by_key(|(at, latency)| (*latency, Reverse(*at)))
}

fn push(columns: &mut FlowColumns, flow: &FlowView<'_>, changes: usize, base: Nanos, names: &Names) {
    let [source_name, destination_name] = names.ends(&flow.flow).map(|name| name.map(str::to_owned));
    let after = |time: Nanos| time.since(base).0;
    let hops = flow.path.map_or(&[][..], |path| path.hops());
    columns.id.push(Exact::from(flow.id));
    columns.source.push(flow.flow.source.to_string());
    columns.source_name.push(source_name);
    columns.destination.push(flow.flow.destination.to_string());
    columns.destination_name.push(destination_name);
    columns.protocol.push(flow.flow.protocol);
    columns.source_port.push(flow.flow.source_port);
    columns.destination_port.push(flow.flow.destination_port);
    columns.path.push(hops.iter().map(|hop| hop.node_id.0).collect());
    columns.complete.push(flow.complete);
    columns.latency.push(total(flow));
    columns.worst.push(worst(flow).map(|(at, _)| at));
    columns.worst_latency.push(worst(flow).map(|(_, latency)| latency));
    columns.changes.push(u32::try_from(changes).unwrap_or(u32::MAX));
    columns.reports.push(flow.reports);
    columns.first_seen.push(after(flow.first_seen));
    columns.last_seen.push(after(flow.last_seen));
}

const DEFAULT_LIMIT: u32 = 100;
/// Maximum length of a filter, bytes.
const MAX_FILTER_BYTES: usize = 8 << 10;
