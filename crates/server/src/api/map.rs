//! The fabric in one time range: current nodes and links, values from history.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use inband_collector::LinkView;
use inband_model::api::{
    FabricMap, MapColor, MapForm, MapGroup, MapInterfaceColumns, MapLinkColumns, MapNodeColumns, MapQuestion,
    TimeRange,
};
use inband_model::{Names, Nanos, NodeId};
use inband_store::{Interface, InterfaceSums, Interfaces, InterfacesOf, InterfacesQuestion, QueryError};

use super::Shared;
use super::asked::Asked;
use super::groups;
use super::history::{self, Past, in_whole};
use super::problem::Problem;
use super::views::json;

pub(super) async fn map(
    State(state): State<Shared>,
    Asked(question): Asked<MapQuestion>,
) -> Result<Response, Problem> {
    let now = state.read.now().await?;
    let (known, links) = (state.read.node_ids().await?, state.read.links().await?);
    let range = measured_range(question.time.resolve(now)?, now);
    let measured = match state.archive.is_some() {
        true => Some(history::ask(&state, move |past| measure(past, range, question.node)).await?),
        false => None,
    };
    let (interfaces, source, damage) = measured.unwrap_or_default();
    let names = Arc::clone(&state.names);
    let answer = move || {
        let is_at =
            |link: &&LinkView| question.node.is_none_or(|node| link.from.0 == node || link.to.0 == node);
        // A link is on the map from the first path over it.
        let links = links.iter().filter(is_at).filter(|link| link.first_seen < range.to);
        let links: Vec<LinkView> = links.copied().collect();
        let nodes = self::nodes(&names, &known, &interfaces, &links, &question);
        let places: HashMap<u32, u32> = nodes.node.iter().zip(0..).map(|(node, at)| (*node, at)).collect();
        let silence = |last_seen| silent_seconds(last_seen, range.to, now);
        let links = self::links(&links, &interfaces, &places, &question, silence);
        let interfaces = match question.form {
            MapForm::Full => rows(&interfaces, question.by),
            MapForm::Matrix => MapInterfaceColumns::default(),
        };
        let (from, to, by) = (range.from.into(), range.to.into(), question.by);
        let map =
            FabricMap { from, to, by, nodes, interfaces, links, source, damage, ..FabricMap::default() };
        json(&match question.group {
            MapGroup::None => map,
            MapGroup::Auto => groups::group(map),
        })
    };
    state.aside.compute(answer).await
}

/// Values of the interfaces from history: from hops for short ranges, from minutes for longer ones, with
/// `hours` where whole hours are covered; percentiles of all nodes are of some of the minutes if they are
/// many.
fn measure(
    past: &mut Past,
    range: TimeRange,
    node: Option<u32>,
) -> Result<(Interfaces, String, u32), QueryError> {
    let (of, tables) = match range.length() {
        length if length < LONG_NS => (InterfacesOf::Hops, "observations"),
        length if length < HOUR_NS => (InterfacesOf::Minutes, "minutes"),
        length if length <= VERY_LONG_NS => (InterfacesOf::HoursAndMinutes, "hours and minutes"),
        _ => (InterfacesOf::Hours, "hours"),
    };
    let to = Nanos(range.to.0.saturating_sub(1));
    let question = InterfacesQuestion {
        of,
        range: inband_store::TimeRange { from: range.from, to },
        node,
        max_sketches: if node.is_some() { usize::MAX } else { MAX_SKETCHES },
    };
    let interfaces = past.history().interfaces(&question, past.left()?)?;
    let source = match interfaces.one_in {
        None => tables.to_owned(),
        Some(one_in) => format!("{tables}, percentiles of one minute in {one_in}"),
    };
    Ok((interfaces, source, past.damage()))
}

/// The measured time range: short ones unchanged, longer ones extended to whole minutes, and those that are
/// read from hours alone to whole hours, up to `now`.
fn measured_range(range: TimeRange, now: Nanos) -> TimeRange {
    if range.length() < LONG_NS {
        return range;
    }
    let range = in_whole(LONG_NS, range, now);
    if range.length() > VERY_LONG_NS { in_whole(HOUR_NS, range, now) } else { range }
}

fn nodes(
    names: &Names,
    known: &BTreeMap<NodeId, bool>,
    interfaces: &Interfaces,
    links: &[LinkView],
    question: &MapQuestion,
) -> MapNodeColumns {
    let ends = links.iter().flat_map(|link| [link.from.0, link.to.0]);
    let mut all: BTreeSet<u32> = interfaces.all().iter().map(|((node, _), _)| *node).chain(ends).collect();
    match question.node {
        Some(node) => all.extend(known.contains_key(&NodeId(node)).then_some(node)),
        None => all.extend(known.keys().map(|node| node.0)),
    }
    let mut columns = MapNodeColumns::default();
    for node in all {
        let own = interfaces.of_node(node);
        let own = || own.iter().map(|(_, measured)| measured);
        let value = match question.by {
            MapColor::Drops => Some(own().map(|measured| measured.drops).sum()),
            MapColor::Reports => Some(own().map(|measured| measured.count).sum()),
            by => own().filter_map(|measured| value(measured, by)).max(),
        };
        columns.node.push(node);
        columns.name.push(names.node(NodeId(node)).map(str::to_owned));
        columns.reports_itself.push(known.get(&NodeId(node)).copied().unwrap_or(false));
        columns.value.push(value);
        columns.reports.push(own().map(|measured| measured.count).sum());
    }
    columns
}

fn rows(interfaces: &Interfaces, by: MapColor) -> MapInterfaceColumns {
    let mut columns = MapInterfaceColumns::default();
    for ((node, interface), measured) in interfaces.all() {
        columns.node.push(*node);
        columns.interface.push(*interface);
        columns.value.push(value(measured, by));
        columns.reports.push(measured.count);
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
    silence: impl Fn(Nanos) -> Option<u64>,
) -> MapLinkColumns {
    let mut columns = MapLinkColumns::default();
    // Links are sorted by the node that packets leave.
    let mut left: (Option<NodeId>, &[(Interface, InterfaceSums)]) = (None, &[]);
    for link in links {
        let (Some(from), Some(to)) = (places.get(&link.from.0), places.get(&link.to.0)) else { continue };
        let egress = link.egress_interface.map(u32::from);
        if left.0 != Some(link.from) {
            left = (Some(link.from), interfaces.of_node(link.from.0));
        }
        let place = left.1.binary_search_by_key(&egress, |((_, interface), _)| *interface);
        let measured = place.ok().map(|place| &left.1[place].1);
        columns.from.push(*from);
        columns.egress_interface.push(egress);
        columns.to.push(*to);
        columns.ingress_interface.push(link.ingress_interface.map(u32::from));
        columns.value.push(measured.and_then(|measured| value(measured, question.by)));
        columns.certain.push(link.certain);
        if question.form == MapForm::Full {
            columns.latency_p50.push(link.latency.map(|latency| latency.p50.0));
            columns.uncertainty.push(link.clock_uncertainty.map(|uncertainty| uncertainty.0));
            columns.silent_seconds.push(silence(link.last_seen));
        }
    }
    columns
}

/// Seconds from the last path over a link to `end`, the end of a time range; `None` if a later path is known.
fn silent_seconds(last_seen: Nanos, end: Nanos, now: Nanos) -> Option<u64> {
    // The end of a range up to now is the caller's now.
    let is_present = now.since(end) < PRESENT;
    let end = if is_present { now } else { end };
    (is_present || last_seen <= end).then(|| end.since(last_seen).0 / 1_000_000_000)
}

/// The value that colours the map.
const fn value(measured: &InterfaceSums, by: MapColor) -> Option<u64> {
    match by {
        MapColor::P99 => measured.p99,
        MapColor::Max => measured.max,
        MapColor::Depth => measured.depth,
        MapColor::Utilization => measured.utilization,
        MapColor::Drops => Some(measured.drops),
        MapColor::Reports => Some(measured.count),
    }
}

/// A range that ended less than this ago is of the present.
const PRESENT: Nanos = Nanos::from_secs(5);
/// From this length, minutes are read: one minute.
const LONG_NS: u64 = 60_000_000_000;
/// Percentiles are of about this many sketches, if there are more: those of two minutes of 30,000 interfaces,
/// each minute in two segments.
const MAX_SKETCHES: usize = 120_000;
/// From this length, a range may contain whole hours.
const HOUR_NS: u64 = 3_600_000_000_000;
/// Longer ranges are read from hours only.
const VERY_LONG_NS: u64 = 2 * 24 * 3_600_000_000_000;

#[cfg(test)]
mod tests {
    use inband_model::Nanos;

    use super::silent_seconds;

    #[test]
    fn silence_is_that_at_the_end_of_the_range_and_unknown_before_later_paths() {
        let silence = |last_seen, end| {
            silent_seconds(Nanos::from_secs(last_seen), Nanos::from_secs(end), Nanos::from_secs(1_000))
        };
        assert_eq!((silence(100, 160), silence(160, 160), silence(161, 160)), (Some(60), Some(0), None));
        assert_eq!(
            (silence(900, 998), silence(999, 998), silence(990, 2_000)),
            (Some(100), Some(1), Some(10))
        );
    }
}
