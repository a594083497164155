//! Drop reports by reason, node, interface or flow, from history.

use std::collections::{BTreeMap, HashMap};

use axum::extract::State;
use axum::response::Response;
use inband_model::api::{
    DropColumns, DropGrouping, DropReason, DropSeries, Drops, DropsQuestion, Exact, TimeRange,
};
use inband_model::{DropClass, EventDetail, EventKind, Nanos, NodeId};
use inband_store::QueryError;

use super::Shared;
use super::asked::Asked;
use super::history::{self, Past, Row, count, number, small, step, within};
use super::past::{self, Filter};
use super::problem::Problem;
use super::views::json;

pub(super) async fn drops(
    State(state): State<Shared>,
    Asked(question): Asked<DropsQuestion>,
) -> Result<Response, Problem> {
    let range = question.time.resolve(state.read.now().await?)?;
    let step_ns = step(range, question.step, USUAL_STEPS)?;
    let find = move |past: &mut Past| find(past, range, step_ns, &question);
    Ok(json(&history::ask(&state, find).await?))
}

fn find(
    past: &mut Past,
    range: TimeRange,
    step_ns: u64,
    question: &DropsQuestion,
) -> Result<Drops, QueryError> {
    let columns: &[&str] = match question.by {
        DropGrouping::Reason => &["drop_reason"],
        DropGrouping::Node => &["node_id"],
        DropGrouping::Interface => &["node_id", "egress_interface"],
        DropGrouping::Flow => &["flow_id"],
    };
    let list = columns.join(", ");
    let node = question.node.map_or(String::new(), |node| format!(" AND node_id = {node}"));
    let seconds = with_drops(past, range)?;
    let wanted = format!("dropped = 1 AND {}{node}", within(seconds));
    // The node that dropped a packet is the last one in its report, or the reporter if it has no hops.
    let sql = format!(
        "SELECT {list}, (time - {}) / {step_ns} AS step, count(*) AS n, hop_index, hop_count FROM observations \
         WHERE {wanted} GROUP BY {list}, step, hop_index, hop_count",
        range.from.0
    );
    let mut groups: HashMap<Vec<Option<u64>>, BTreeMap<u32, u64>> = HashMap::new();
    let width = columns.len();
    let is_last = |row: &Row| {
        let (index, hops) = (count(&row[width + 2]), count(&row[width + 3]));
        hops == 0 || index + 1 == hops
    };
    for row in past.rows(&sql)?.iter().filter(|row| is_last(row)) {
        let key = row[..width].iter().map(number).collect();
        let step = small(&row[width]).unwrap_or(0);
        *groups.entry(key).or_default().entry(step).or_default() += count(&row[width + 1]);
    }
    let reports = groups.values().flat_map(BTreeMap::values).sum();
    let mut groups: Vec<_> =
        groups.into_iter().map(|(key, steps)| (steps.values().sum::<u64>(), key, steps)).collect();
    groups.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    groups.truncate(question.limit.unwrap_or(DEFAULT_LIMIT) as usize);
    let mut drops = Drops {
        from: range.from.into(),
        to: range.to.into(),
        step_ns,
        reports,
        reasons: reasons(past, range)?,
        ..Drops::default()
    };
    for (at, (total, key, steps)) in (0_u32..).zip(groups) {
        push_group(&mut drops.groups, question.by, &key, total);
        push_steps(&mut drops.series, at, &steps);
    }
    drops.damage = past.damage();
    Ok(drops)
}

/// The part of the time range that contains drop reports; empty if there are none.
fn with_drops(past: &mut Past, range: TimeRange) -> Result<TimeRange, QueryError> {
    if !past.has_totals(range) {
        return Ok(range);
    }
    // The first second may begin before the time range.
    let whole = TimeRange { from: Nanos(range.from.0 - range.from.0 % SECOND_NS), to: range.to };
    let sql = format!(
        "SELECT min(time) AS first, max(time) AS last FROM totals WHERE dropped > 0 AND {}",
        within(whole)
    );
    let rows = past.rows(&sql)?;
    let bound = |place: usize| rows.first().and_then(|row| number(row.get(place)?));
    Ok(match (bound(0), bound(1)) {
        (Some(first), Some(last)) => TimeRange {
            from: range.from.max(Nanos(first)),
            to: range.to.min(Nanos(last.saturating_add(SECOND_NS))),
        },
        _ => TimeRange { from: range.from, to: range.from },
    })
}

fn push_group(groups: &mut DropColumns, by: DropGrouping, key: &[Option<u64>], reports: u64) {
    let part = |at: usize| key.get(at).copied().flatten();
    let narrow = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
    let is_of_node = matches!(by, DropGrouping::Node | DropGrouping::Interface);
    let node = narrow(part(0)).filter(|node| *node != NodeId::NOT_AVAILABLE.0);
    groups.node.push(node.filter(|_| is_of_node));
    groups.interface.push(narrow(part(1)));
    groups.reason.push(narrow(part(0)).filter(|_| by == DropGrouping::Reason));
    groups.flow.push(part(0).map(Exact).filter(|_| by == DropGrouping::Flow));
    groups.reports.push(reports);
}

fn push_steps(series: &mut DropSeries, group: u32, steps: &BTreeMap<u32, u64>) {
    for (step, reports) in steps {
        series.group.push(group);
        series.step.push(*step);
        series.reports.push(*reports);
    }
}

/// The meanings of drop reasons, from the events of the time range.
fn reasons(past: &Past, range: TimeRange) -> Result<Vec<DropReason>, QueryError> {
    let (from, to) = (Some(range.from), Some(range.to));
    let filter = Filter { from, to, kind: Some(EventKind::Drop), ..Filter::default() };
    let events = past::of_snapshot(past.history(), &filter, MAX_EVENTS, past.left()?)?;
    let mut reasons: Vec<DropReason> = Vec::new();
    for view in events {
        let EventDetail::Drop(drop) = view.event.detail else { continue };
        let reason = drop.reason.map(u32::from);
        if reasons.iter().all(|known| known.reason != reason) {
            let class = match drop.class {
                DropClass::Blackhole => "blackhole",
                DropClass::CongestionLoss => "congestion-loss",
                DropClass::Policy => "policy",
                DropClass::Other => "other",
            };
            let (name, check) = (drop.reason_name, drop.check);
            reasons.push(DropReason { reason, name, class: class.to_owned(), check });
        }
    }
    reasons.sort_by_key(|reason| reason.reason);
    Ok(reasons)
}

const SECOND_NS: u64 = 1_000_000_000;
const USUAL_STEPS: u64 = 60;
const DEFAULT_LIMIT: u32 = 50;
const MAX_EVENTS: usize = 1_000;
