//! The flows of a link, and the paths between two hosts.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path as InPath, State};
use axum::response::Response;
use inband_collector::FlowSnapshot;
use inband_model::api::{BetweenQuestion, FlowView, LimitQuestion, PathBetween};
use inband_model::{Hop, Names, NodeId, Path, PathId, Prefix};

use super::Shared;
use super::asked::Asked;
use super::problem::{Problem, shown};
use super::views::{MAX_ANSWER, json, list};
use crate::named::Named;

/// A link in the direction packets take, as `FROM.INTERFACE-TO.INTERFACE`; an interface that is `*` or left
/// out matches any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LinkId {
    from: (NodeId, Option<u16>),
    to: (NodeId, Option<u16>),
}

/// The flows whose latest path goes over a link, most reports first.
pub(super) async fn link_flows(
    State(state): State<Shared>,
    InPath(id): InPath<String>,
    Asked(wanted): Asked<LimitQuestion>,
) -> Result<Response, Problem> {
    let wrong = || {
        let shown = shown(&id);
        Problem::parameter("id", format!("`{shown}` is not the id of a link"), "such as 1.2-11.3 or 1-11")
    };
    let link: LinkId = LinkId::parse(&id).ok_or_else(wrong)?;
    let limit = limit(wanted.limit);
    let flows = state.read.flows().await?;
    let names = Arc::clone(&state.names);
    let answer = move || {
        let goes_over = |flow: &FlowView<'_>| flow.path.is_some_and(|path| link.is_on(path));
        let flows: Vec<FlowView<'_>> = flows.busiest().filter(goes_over).take(limit).collect();
        list(&flows, |flow| names.of_flow(flow))
    };
    state.aside.compute(answer).await
}

/// The paths between two places, those with the most flows first.
pub(super) async fn paths(
    State(state): State<Shared>,
    Asked(wanted): Asked<BetweenQuestion>,
) -> Result<Response, Problem> {
    let source = places(&state.names, "source", wanted.source.as_deref())?;
    let destination = places(&state.names, "destination", wanted.destination.as_deref())?;
    let limit = limit(wanted.limit);
    let flows = state.read.flows().await?;
    let names = Arc::clone(&state.names);
    let answer = move || json(&between(flows.all(), &names, &source, &destination, limit));
    state.aside.compute(answer).await
}

fn between<'a>(
    flows: &'a FlowSnapshot,
    names: &'a Names,
    source: &[Prefix],
    destination: &[Prefix],
    limit: usize,
) -> Vec<PathBetween<'a>> {
    let is_in = |places: &[Prefix], address| places.iter().any(|place| place.contains(address));
    let mut paths: BTreeMap<PathId, PathBetween<'_>> = BTreeMap::new();
    for (place, view) in flows.flows().enumerate() {
        if !is_in(source, view.flow.source) || !is_in(destination, view.flow.destination) {
            continue;
        }
        for taken in flows.paths(place) {
            let path = paths.entry(taken.id).or_insert_with(|| PathBetween {
                id: taken.id.to_string(),
                path: taken.path,
                path_names: names.path(taken.path),
                flows: 0,
                current_flows: 0,
                reports: 0,
                since: taken.since,
                until: taken.until,
            });
            path.flows += 1;
            path.current_flows += u64::from(taken.current);
            path.reports += if taken.current { view.reports } else { 0 };
            path.since = path.since.min(taken.since);
            path.until = path.until.max(taken.until);
        }
    }
    let mut paths: Vec<_> = paths.into_values().collect();
    paths.sort_by_key(|path| (Reverse(path.current_flows), Reverse(path.flows), Reverse(path.until)));
    paths.truncate(limit);
    paths
}

impl LinkId {
    fn parse(text: &str) -> Option<Self> {
        let end = |text: &str| {
            let (node, interface) = text.split_once('.').unwrap_or((text, "*"));
            let interface = if interface == "*" { None } else { Some(interface.parse().ok()?) };
            Some((NodeId(node.parse().ok()?), interface))
        };
        let (from, to) = text.split_once('-')?;
        Some(Self { from: end(from)?, to: end(to)? })
    }

    fn is_on(&self, path: &Path) -> bool {
        let is = |(node, wanted): (NodeId, Option<u16>), hop: &Hop, interface: Option<u16>| {
            hop.node_id == node && (wanted.is_none() || interface == wanted)
        };
        path.hops().windows(2).any(|pair| {
            is(self.from, &pair[0], pair[0].egress_interface)
                && is(self.to, &pair[1], pair[1].ingress_interface)
        })
    }
}

/// The addresses of the place in a parameter; all addresses if none is named.
fn places(names: &Names, parameter: &str, text: Option<&str>) -> Result<Vec<Prefix>, Problem> {
    let Some(text) = text else {
        return Ok(["0.0.0.0/0", "::/0"].into_iter().filter_map(|all| all.parse().ok()).collect());
    };
    if let Ok(prefix) = text.parse() {
        return Ok(vec![prefix]);
    }
    let named = names.addresses(text);
    if named.is_empty() {
        let shown = shown(text);
        let allowed = "an address, a prefix, or the name of a host or subnet";
        return Err(Problem::parameter(parameter, format!("`{shown}` is no place"), allowed));
    }
    Ok(named)
}

fn limit(wanted: Option<usize>) -> usize {
    wanted.unwrap_or(100).min(MAX_ANSWER)
}

#[cfg(test)]
mod tests {
    use inband_model::{Hop, NodeId, Path};

    use super::LinkId;

    #[test]
    fn a_link_is_named_by_nodes_and_interfaces_of_which_any_may_be_left_out() {
        let hop = |node, ingress, egress| Hop {
            node_id: NodeId(node),
            ingress_interface: Some(ingress),
            egress_interface: egress,
        };
        let path = Path::new(&[hop(1, 9, Some(2)), hop(11, 3, None), hop(5, 4, Some(1))]);
        let is_on = |id: &str| LinkId::parse(id).unwrap().is_on(&path);
        for id in ["1.2-11.3", "1-11", "1.*-11.*", "1.2-11", "1-11.3", "11-5.4", "11.*-5.4"] {
            assert!(is_on(id), "{id}");
        }
        // The other direction, another interface, an unknown interface, nodes that are not adjacent.
        for id in ["11-1", "1.3-11.3", "1.2-11.4", "11.1-5.4", "1-5"] {
            assert!(!is_on(id), "{id}");
        }
        for wrong in ["", "1", "1-", "-11", "1.x-11", "1.70000-11", "1.2.3-11", "1-11-5", "4294967296-1"] {
            assert_eq!(LinkId::parse(wrong), None, "{wrong}");
        }
    }
}
