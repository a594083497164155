//! Distribution of flows over links of equal cost: groups from the paths of flows, loads from history.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use inband_collector::{FlowPathView, FlowSnapshot};
use inband_model::api::{Ecmp, EcmpLoad, EcmpQuestion, TimeRange};
use inband_model::{FlowId, Hop, Names, NodeId, Path, highest_to_mean_permille, jain_permille};
use inband_store::QueryError;

use super::Shared;
use super::asked::Asked;
use super::history::{self, Past, count, small, within};
use super::problem::Problem;
use super::views::json;

/// A node that forwards packets to one last node over a number of further hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    node: u32,
    last_node: u32,
    hops_left: usize,
}

/// A link that the node chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    egress_interface: u32,
    next_node: u32,
    ingress_interface: Option<u32>,
}

/// The flows over one link of a node.
#[derive(Debug, Clone, Default)]
struct Load {
    flows: u64,
    largest: Vec<(u64, FlowId)>,
}

/// The links that flows use at each node.
#[derive(Debug, Default)]
struct Spread {
    choices: BTreeMap<Choice, BTreeSet<Link>>,
    loads: BTreeMap<(u32, Link), Load>,
}

/// Reports over links, by step; the key is node, egress interface and next node.
type Carried = BTreeMap<(u32, Option<u32>, u32), BTreeMap<u32, u64>>;

pub(super) async fn ecmp(
    State(state): State<Shared>,
    Asked(question): Asked<EcmpQuestion>,
) -> Result<Response, Problem> {
    let range = question.time.resolve(state.read.now().await?)?;
    let flows = state.read.flows().await?;
    let node = question.node;
    let spread = state.aside.compute(move || Spread::of(flows.all(), range, node)).await?;
    let carried = match state.archive.is_some() {
        true => Some(history::ask(&state, move |past| carried(past, range, node)).await?),
        false => None,
    };
    let (carried, damage) = carried.unwrap_or_default();
    let limit = question.limit.unwrap_or(DEFAULT_LIMIT) as usize;
    let names = Arc::clone(&state.names);
    let answer = move || {
        let mut answer = answer(&names, &spread, &carried, limit);
        (answer.from, answer.to, answer.damage) = (range.from.into(), range.to.into(), damage);
        json(&answer)
    };
    state.aside.compute(answer).await
}

fn carried(past: &mut Past, range: TimeRange, node: Option<u32>) -> Result<(Carried, u32), QueryError> {
    let mut minutes = range;
    minutes.from.0 -= minutes.from.0 % STEP_NS;
    let of_node = node.map_or(String::new(), |node| format!(" AND from_node = {node}"));
    let sql = format!(
        "SELECT from_node, egress_interface, to_node, (time - {}) / {STEP_NS} AS step, sum(count) AS n \
         FROM link_minutes WHERE {}{of_node} GROUP BY from_node, egress_interface, to_node, step",
        minutes.from.0,
        within(minutes)
    );
    let mut carried = Carried::new();
    for row in past.rows(&sql)? {
        let (Some(from), Some(to)) = (small(&row[0]), small(&row[2])) else { continue };
        let steps = carried.entry((from, small(&row[1]), to)).or_default();
        *steps.entry(small(&row[3]).unwrap_or(0)).or_default() += count(&row[4]);
    }
    Ok((carried, past.damage()))
}

impl Spread {
    /// Collects the links of the paths that flows took in a time range. Many flows share a path, whose links
    /// are read once.
    fn of(flows: &FlowSnapshot, range: TimeRange, node: Option<u32>) -> Self {
        let mut spread = Self::default();
        let mut by_path: Vec<(&Path, Load)> = Vec::new();
        let mut places: HashMap<*const Path, usize> = HashMap::new();
        let whole = flows.flows().enumerate().filter(|(_, flow)| flow.complete);
        for (place, flow) in whole {
            let is_in_time = |taken: &FlowPathView<'_>| taken.since < range.to && taken.until >= range.from;
            let mut taken = flows.paths(place).filter(is_in_time).map(|taken| taken.path);
            let Some(first) = taken.next() else { continue };
            let Some(second) = taken.next() else {
                // Equal paths of a snapshot share one allocation.
                let of_path = *places.entry(std::ptr::from_ref(first)).or_insert_with(|| {
                    by_path.push((first, Load::default()));
                    by_path.len() - 1
                });
                by_path[of_path].1.add(flow.reports, flow.id);
                continue;
            };
            let mut links = BTreeSet::new();
            for path in [first, second].into_iter().chain(taken) {
                links.extend(spread.choose(path, node));
            }
            for link in links {
                spread.loads.entry(link).or_default().add(flow.reports, flow.id);
            }
        }
        for (path, load) in by_path {
            let links: BTreeSet<_> = spread.choose(path, node).into_iter().collect();
            for link in links {
                spread.loads.entry(link).or_default().merge(&load);
            }
        }
        spread
    }

    /// Records the links that nodes chose on a path, and returns them.
    fn choose(&mut self, path: &Path, node: Option<u32>) -> Vec<(u32, Link)> {
        let hops = path.hops();
        let Some(last) = hops.last() else { return Vec::new() };
        let mut links = Vec::new();
        for (at, pair) in hops.windows(2).enumerate() {
            let [hop, next] = pair else { continue };
            let is_wanted = node.is_none_or(|node| hop.node_id.0 == node);
            let Some(link) = link(hop, next).filter(|_| is_wanted) else { continue };
            let hops_left = hops.len() - 1 - at;
            let choice = Choice { node: hop.node_id.0, last_node: last.node_id.0, hops_left };
            self.choices.entry(choice).or_default().insert(link);
            links.push((hop.node_id.0, link));
        }
        links
    }

    /// The links of each group with their node; a subset of another group is not a group.
    fn groups(&self) -> Vec<(u32, &BTreeSet<Link>)> {
        let mut groups: Vec<(u32, &BTreeSet<Link>)> = Vec::new();
        let choices = self.choices.iter().filter(|(_, links)| links.len() > 1);
        let mut choices: Vec<_> = choices.map(|(choice, links)| (choice.node, links)).collect();
        choices.sort_by_key(|(node, links)| (*node, Reverse(links.len())));
        for (node, links) in choices {
            let is_known = |(of, known): &(u32, &BTreeSet<Link>)| *of == node && links.is_subset(known);
            if !groups.iter().rev().take_while(|(of, _)| *of == node).any(is_known) {
                groups.push((node, links));
            }
        }
        groups
    }
}

fn link(hop: &Hop, next: &Hop) -> Option<Link> {
    Some(Link {
        egress_interface: hop.egress_interface?.into(),
        next_node: next.node_id.0,
        ingress_interface: next.ingress_interface.map(u32::from),
    })
}

impl Load {
    fn add(&mut self, reports: u64, flow: FlowId) {
        self.flows += 1;
        let place = self.largest.partition_point(|(more, _)| *more >= reports);
        if place < MAX_LARGEST {
            self.largest.insert(place, (reports, flow));
            self.largest.truncate(MAX_LARGEST);
        }
    }

    fn merge(&mut self, other: &Self) {
        let flows = self.flows + other.flows;
        other.largest.iter().for_each(|(reports, flow)| self.add(*reports, *flow));
        self.flows = flows;
    }
}

/// A group with the loads of its links.
struct Group<'a> {
    node: u32,
    links: Vec<(Link, &'a Load, u64)>,
    load: EcmpLoad,
    loads: Vec<u64>,
}

impl<'a> Group<'a> {
    fn new(node: u32, links: &BTreeSet<Link>, spread: &'a Spread, carried: &Carried) -> Self {
        let of = |link: &Link| {
            let load = spread.loads.get(&(node, *link))?;
            let steps = carried.get(&(node, Some(link.egress_interface), link.next_node));
            Some((*link, load, steps.map_or(0, |steps| steps.values().sum())))
        };
        let links: Vec<(Link, &Load, u64)> = links.iter().filter_map(of).collect();
        let is_reported = links.iter().any(|(_, _, reports)| *reports > 0);
        let load = if is_reported { EcmpLoad::Reports } else { EcmpLoad::Flows };
        let loads =
            links.iter().map(|(_, load, reports)| if is_reported { *reports } else { load.flows }).collect();
        Self { node, links, load, loads }
    }
}

fn answer(names: &Names, spread: &Spread, carried: &Carried, limit: usize) -> Ecmp {
    let groups = spread.groups().into_iter().map(|(node, links)| Group::new(node, links, spread, carried));
    let mut groups: Vec<Group<'_>> = groups.collect();
    groups.sort_by_cached_key(|group| (jain_permille(&group.loads), group.node));
    let name = |node: u32| names.node(NodeId(node)).map(str::to_owned);
    let mut answer = Ecmp { step_ns: STEP_NS, ..Ecmp::default() };
    answer.left_out = u32::try_from(groups.len().saturating_sub(limit)).unwrap_or(u32::MAX);
    for (at, group) in (0..).zip(groups.into_iter().take(limit)) {
        let columns = &mut answer.groups;
        columns.node.push(group.node);
        columns.name.push(name(group.node));
        columns.links.push(u32::try_from(group.links.len()).unwrap_or(u32::MAX));
        columns.flows.push(group.links.iter().map(|(_, load, _)| load.flows).sum());
        columns.reports.push(group.links.iter().map(|(.., reports)| reports).sum());
        columns.load.push(group.load);
        columns.highest_to_mean_permille.push(highest_to_mean_permille(&group.loads));
        columns.jain_permille.push(jain_permille(&group.loads));
        let all: u128 = group.loads.iter().map(|load| u128::from(*load)).sum();
        for ((link, of_flows, reports), load) in group.links.iter().zip(&group.loads) {
            let row = u32::try_from(answer.links.group.len()).unwrap_or(u32::MAX);
            let columns = &mut answer.links;
            columns.group.push(at);
            columns.egress_interface.push(link.egress_interface);
            columns.next_node.push(link.next_node);
            columns.next_name.push(name(link.next_node));
            columns.ingress_interface.push(link.ingress_interface);
            columns.flows.push(of_flows.flows);
            columns.reports.push(*reports);
            let share = (u128::from(*load) * 1_000).checked_div(all).unwrap_or(0);
            columns.share_permille.push(u64::try_from(share).unwrap_or(1_000));
            for (reports, flow) in &of_flows.largest {
                answer.largest.link.push(row);
                answer.largest.flow.push((*flow).into());
                answer.largest.reports.push(*reports);
            }
            let steps = carried.get(&(group.node, Some(link.egress_interface), link.next_node));
            for (step, reports) in steps.into_iter().flatten() {
                answer.series.link.push(row);
                answer.series.step.push(*step);
                answer.series.reports.push(*reports);
            }
        }
    }
    answer
}

/// Length of a step: one row of `link_minutes`.
const STEP_NS: u64 = 60_000_000_000;
/// Maximum number of flows listed for each link.
const MAX_LARGEST: usize = 5;
const DEFAULT_LIMIT: u32 = 100;
