//! The fabric at one time: nodes and links as they are known now, values out of history.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use axum::extract::State;
use axum::response::Response;
use inband_collector::LinkView;
use inband_model::api::{
    FabricMap, MapColor, MapForm, MapGroup, MapInterfaceColumns, MapLinkColumns, MapNodeColumns, MapQuestion,
    TimeRange,
};
use inband_model::{Names, Nanos, NodeId};
use inband_store::{QueryError, Sketch};

use super::Shared;
use super::asked::Asked;
use super::groups;
use super::history::{self, Past, count, number, small, text, within};
use super::problem::Problem;
use super::views::json;

/// What history says of one egress interface.
#[derive(Debug, Clone, Copy, Default)]
struct Measured {
    reports: u64,
    p50: Option<u64>,
    p99: Option<u64>,
    max: Option<u64>,
    depth: Option<u64>,
    utilization: Option<u64>,
    drops: u64,
}

type Interfaces = BTreeMap<(u32, Option<u32>), Measured>;

pub(super) async fn map(
    State(state): State<Shared>,
    Asked(question): Asked<MapQuestion>,
) -> Result<Response, Problem> {
    let now = state.read.now().await?;
    let (nodes, links) = (state.read.nodes().await?, state.read.links().await?);
    let known: BTreeMap<u32, bool> = nodes.iter().map(|node| (node.node_id.0, node.reports > 0)).collect();
    let range = question.time.resolve(now)?;
    let measured = match state.archive.is_some() {
        true => Some(history::ask(&state, move |past| measure(past, range, question.node)).await?),
        false => None,
    };
    let (interfaces, source, damage) = measured.unwrap_or_default();
    let is_at = |link: &&LinkView| question.node.is_none_or(|node| link.from.0 == node || link.to.0 == node);
    // A link is of the map from the first path over it on.
    let links = links.iter().filter(is_at).filter(|link| link.first_seen < range.to);
    let links: Vec<LinkView> = links.copied().collect();
    let nodes = self::nodes(&state.names, &known, &interfaces, &links, &question);
    let places: HashMap<u32, u32> = nodes.node.iter().zip(0..).map(|(node, at)| (*node, at)).collect();
    let links = self::links(&links, &interfaces, &places, &question, now);
    let interfaces = match question.form {
        MapForm::Full => rows(&interfaces, question.by),
        MapForm::Matrix => MapInterfaceColumns::default(),
    };
    let (from, to, by) = (range.from.into(), range.to.into(), question.by);
    let map = FabricMap {
        from,
        to,
        by,
        nodes,
        interfaces,
        links,
        source: source.to_owned(),
        damage,
        ..FabricMap::default()
    };
    Ok(json(&match question.group {
        MapGroup::None => map,
        MapGroup::Auto => groups::group(map),
    }))
}

/// What history says of the interfaces: of a short time its hops, of a long one its minutes or hours.
fn measure(
    past: &mut Past,
    range: TimeRange,
    node: Option<u32>,
) -> Result<(Interfaces, &'static str, u32), QueryError> {
    let of_node = node.map_or(String::new(), |node| format!(" AND node_id = {node}"));
    let (interfaces, source) = match range.length() {
        length if length <= LONG_NS => (of_hops(past, range, &of_node)?, "observations"),
        length if length <= VERY_LONG_NS => (rolled_up(past, "minutes", range, &of_node)?, "minutes"),
        _ => (rolled_up(past, "hours", range, &of_node)?, "hours"),
    };
    Ok((interfaces, source, past.damage()))
}

fn of_hops(past: &mut Past, range: TimeRange, of_node: &str) -> Result<Interfaces, QueryError> {
    let sql = format!(
        "SELECT node_id, egress_interface, count(*) AS n, quantile(hop_latency, 0.5) AS p50, \
         quantile(hop_latency, 0.99) AS p99, max(hop_latency) AS longest, max(queue_occupancy) AS depth, \
         max(egress_utilization) AS utilization FROM observations WHERE {}{of_node} \
         GROUP BY node_id, egress_interface",
        within(range)
    );
    let measured = |row: &history::Row| Measured {
        reports: count(&row[2]),
        p50: number(&row[3]),
        p99: number(&row[4]),
        max: number(&row[5]),
        depth: number(&row[6]),
        utilization: number(&row[7]),
        drops: 0,
    };
    let place = |row: &history::Row| (small(&row[0]).unwrap_or(u32::MAX), small(&row[1]));
    let mut interfaces: Interfaces = past.rows(&sql)?.iter().map(|row| (place(row), measured(row))).collect();
    // The node that dropped a packet is the last one its report tells of.
    let sql = format!(
        "SELECT node_id, egress_interface, hop_index, hop_count, count(*) AS n FROM observations \
         WHERE dropped = 1 AND {}{of_node} GROUP BY node_id, egress_interface, hop_index, hop_count",
        within(range)
    );
    for row in past.rows(&sql)?.iter().filter(|row| count(&row[2]) + 1 == count(&row[3])) {
        interfaces.entry(place(row)).or_default().drops += count(&row[4]);
    }
    Ok(interfaces)
}

fn rolled_up(
    past: &mut Past,
    table: &str,
    range: TimeRange,
    of_node: &str,
) -> Result<Interfaces, QueryError> {
    let sql = format!(
        "SELECT node_id, egress_interface, count, latency_max, queue_occupancy_max, latency_sketch, dropped, \
         utilization_max FROM {table} WHERE {}{of_node}",
        within(range)
    );
    let mut sketches: BTreeMap<(u32, Option<u32>), (Measured, Sketch)> = BTreeMap::new();
    for row in past.rows(&sql)? {
        let place = (small(&row[0]).unwrap_or(u32::MAX), small(&row[1]));
        let (measured, sketch) = sketches.entry(place).or_default();
        measured.reports += count(&row[2]);
        measured.max = measured.max.max(number(&row[3]));
        measured.depth = measured.depth.max(number(&row[4]));
        measured.drops += count(&row[6]);
        measured.utilization = measured.utilization.max(number(&row[7]));
        if let Some(part) = text(&row[5]).and_then(Sketch::parse) {
            sketch.merge(&part);
        }
    }
    let finished = sketches.into_iter().map(|(place, (measured, sketch))| {
        let (p50, p99) = (sketch.quantile(500), sketch.quantile(990));
        (place, Measured { p50, p99, ..measured })
    });
    Ok(finished.collect())
}

fn nodes(
    names: &Names,
    known: &BTreeMap<u32, bool>,
    interfaces: &Interfaces,
    links: &[LinkView],
    question: &MapQuestion,
) -> MapNodeColumns {
    let ends = links.iter().flat_map(|link| [link.from.0, link.to.0]);
    let mut all: BTreeSet<u32> = interfaces.keys().map(|(node, _)| *node).chain(ends).collect();
    match question.node {
        Some(node) => all.extend(known.contains_key(&node).then_some(node)),
        None => all.extend(known.keys()),
    }
    let mut columns = MapNodeColumns::default();
    for node in all {
        let own = || interfaces.range((node, None)..=(node, Some(u32::MAX))).map(|(_, measured)| measured);
        let value = match question.by {
            MapColor::Drops => Some(own().map(|measured| measured.drops).sum()),
            MapColor::Reports => Some(own().map(|measured| measured.reports).sum()),
            by => own().filter_map(|measured| measured.value(by)).max(),
        };
        columns.node.push(node);
        columns.name.push(names.node(NodeId(node)).map(str::to_owned));
        columns.reports_itself.push(known.get(&node).copied().unwrap_or(false));
        columns.value.push(value);
        columns.reports.push(own().map(|measured| measured.reports).sum());
    }
    columns
}

fn rows(interfaces: &Interfaces, by: MapColor) -> MapInterfaceColumns {
    let mut columns = MapInterfaceColumns::default();
    for ((node, interface), measured) in interfaces {
        columns.node.push(*node);
        columns.interface.push(*interface);
        columns.value.push(measured.value(by));
        columns.reports.push(measured.reports);
        columns.p50.push(measured.p50);
        columns.p99.push(measured.p99);
        columns.max.push(measured.max);
        columns.depth.push(measured.depth);
        columns.utilization.push(measured.utilization);
        columns.drops.push(measured.drops);
    }
    columns
}

fn links(
    links: &[LinkView],
    interfaces: &Interfaces,
    places: &HashMap<u32, u32>,
    question: &MapQuestion,
    now: Nanos,
) -> MapLinkColumns {
    let mut columns = MapLinkColumns::default();
    for link in links {
        let (Some(from), Some(to)) = (places.get(&link.from.0), places.get(&link.to.0)) else { continue };
        let egress = link.egress_interface.map(u32::from);
        let measured = interfaces.get(&(link.from.0, egress));
        columns.from.push(*from);
        columns.egress_interface.push(egress);
        columns.to.push(*to);
        columns.ingress_interface.push(link.ingress_interface.map(u32::from));
        columns.value.push(measured.and_then(|measured| measured.value(question.by)));
        columns.certain.push(link.certain);
        if question.form == MapForm::Full {
            columns.latency_p50.push(link.latency.map(|latency| latency.p50.0));
            columns.uncertainty.push(link.clock_uncertainty.map(|uncertainty| uncertainty.0));
            columns.silent_seconds.push(now.since(link.last_seen).0 / 1_000_000_000);
        }
    }
    columns
}

impl Measured {
    /// The number that the map is coloured by.
    const fn value(&self, by: MapColor) -> Option<u64> {
        match by {
            MapColor::P99 => self.p99,
            MapColor::Max => self.max,
            MapColor::Depth => self.depth,
            MapColor::Utilization => self.utilization,
            MapColor::Drops => Some(self.drops),
            MapColor::Reports => Some(self.reports),
        }
    }
}

/// A longer time than this is answered out of minutes.
const LONG_NS: u64 = 600_000_000_000;
/// And a longer one than this out of hours.
const VERY_LONG_NS: u64 = 2 * 24 * 3_600_000_000_000;
