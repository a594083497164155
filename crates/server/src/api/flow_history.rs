//! Path history of a flow, from history.

use axum::extract::{Path, State};
use axum::response::Response;
use inband_model::api::{
    FlowHistory, FlowHistoryQuestion, PathComparison, PathHop, PathLink, PathPeriod, PeriodReason, Time,
    TimeRange,
};
use inband_model::{EventDetail, EventView, FlowId, Nanos, PathChangeKind};
use inband_store::QueryError;

use super::Shared;
use super::asked::Asked;
use super::history::{self, Past, count, flow_id, number, small, text, within};
use super::past::{self, Filter};
use super::problem::Problem;
use super::views::json;

pub(super) async fn history(
    State(state): State<Shared>,
    Path(id): Path<String>,
    Asked(question): Asked<FlowHistoryQuestion>,
) -> Result<Response, Problem> {
    let id = flow_id(&id)?;
    let range = question.time.resolve(state.read.now().await?)?;
    let compared = question.compare.as_deref().map(two_times).transpose()?;
    let limit = question.limit.unwrap_or(DEFAULT_LIMIT) as usize;
    let find = move |past: &mut Past| find(past, id, range, limit, compared);
    Ok(json(&history::ask(&state, find).await?))
}

/// Parses two times separated by a comma.
fn two_times(text: &str) -> Result<[Nanos; 2], Problem> {
    let times = text
        .split_once(',')
        .and_then(|(one, other)| Some([Time::parse(one.trim())?.0, Time::parse(other.trim())?.0]));
    times.ok_or_else(|| {
        let what = "compare does not say two times".to_owned();
        Problem::parameter(
            "compare",
            what,
            format!("two times with a comma between them, each {}", Time::ALLOWED),
        )
    })
}

fn find(
    past: &mut Past,
    id: FlowId,
    range: TimeRange,
    limit: usize,
    compared: Option<[Nanos; 2]>,
) -> Result<FlowHistory, QueryError> {
    let (mut periods, is_cut) = periods(past, id, range, limit)?;
    for at in 0..periods.len() {
        let before = at.checked_sub(1).map(|before| links(&periods[before].hops));
        if let Some(before) = before {
            let now = links(&periods[at].hops);
            (periods[at].left, periods[at].joined) = difference(&before, &now);
        }
        let since = periods[at].since.map_or(range.from, |since| Nanos(since.0));
        let until = periods[at].until.map_or(range.to, |until| Nanos(until.0));
        let part = TimeRange { from: since.max(range.from), to: until.min(range.to) };
        measure(past, id, part, &mut periods[at].hops)?;
    }
    explain(past, id, range, &mut periods)?;
    let comparison = compared.map(|times| compare(past, id, times)).transpose()?;
    Ok(FlowHistory {
        flow: id.into(),
        from: range.from.into(),
        to: range.to.into(),
        periods,
        is_cut,
        comparison,
    })
}

/// The paths of a time range, earliest first, and whether there were more. The path at its start is the last
/// one known before.
fn periods(
    past: &mut Past,
    id: FlowId,
    range: TimeRange,
    limit: usize,
) -> Result<(Vec<PathPeriod>, bool), QueryError> {
    let until = i64::try_from(range.to.0).unwrap_or(i64::MAX);
    let sql = format!(
        "SELECT time, path_id, path, hops_expected FROM paths WHERE flow_id = {id} AND time < {until} \
         ORDER BY time DESC LIMIT {MAX_PATHS}"
    );
    let rows = past.rows(&sql)?;
    let mut latest_first: Vec<PathPeriod> = Vec::new();
    let mut later: Option<u64> = None;
    let mut is_cut = false;
    for row in &rows {
        let since = count(&row[0]);
        let name = text(&row[1]).unwrap_or("").to_owned();
        // A repeated row continues the path.
        if let Some(last) = latest_first.last_mut().filter(|last| last.path == name) {
            last.since = (since >= range.from.0).then_some(since.into());
        } else {
            if latest_first.len() == limit {
                is_cut = true;
                break;
            }
            latest_first.push(PathPeriod {
                path: name,
                since: (since >= range.from.0).then_some(since.into()),
                until: later.map(Into::into),
                hops_expected: small(&row[3]),
                hops: hops(text(&row[2]).unwrap_or("")),
                ..PathPeriod::default()
            });
        }
        later = Some(since);
        if since < range.from.0 {
            break;
        }
    }
    latest_first.reverse();
    Ok((latest_first, is_cut))
}

/// Parses the hops of a path as history stores them.
fn hops(path: &str) -> Vec<PathHop> {
    let number = |text: &str| text.parse().ok();
    let hop = |text: &str| {
        let mut parts = text.split(':');
        let parts = [parts.next(), parts.next(), parts.next()];
        let (node, ingress, egress) = match parts {
            [Some(ingress), Some(node), Some(egress)] => (node, number(ingress), number(egress)),
            [Some(node), ..] => (node, None, None),
            _ => return None,
        };
        Some(PathHop {
            node: number(node)?,
            ingress_interface: ingress,
            egress_interface: egress,
            ..PathHop::default()
        })
    };
    path.split(" > ").filter_map(hop).collect()
}

fn links(hops: &[PathHop]) -> Vec<PathLink> {
    let link = |pair: &[PathHop]| PathLink {
        from: pair[0].node,
        egress_interface: pair[0].egress_interface,
        to: pair[1].node,
        ingress_interface: pair[1].ingress_interface,
    };
    hops.windows(2).map(link).collect()
}

/// The links that are only on the first path, and those only on the second.
fn difference(before: &[PathLink], after: &[PathLink]) -> (Vec<PathLink>, Vec<PathLink>) {
    let only = |these: &[PathLink], others: &[PathLink]| {
        these.iter().filter(|link| !others.contains(link)).copied().collect()
    };
    (only(before, after), only(after, before))
}

/// Adds reported latencies of a time range to the hops.
fn measure(past: &mut Past, id: FlowId, range: TimeRange, hops: &mut [PathHop]) -> Result<(), QueryError> {
    let sql = format!(
        "SELECT node_id, egress_interface, count(*) AS n, quantile(hop_latency, 0.5) AS p50, \
         quantile(hop_latency, 0.99) AS p99, max(hop_latency) AS longest FROM observations \
         WHERE flow_id = {id} AND {} GROUP BY node_id, egress_interface",
        within(range)
    );
    for row in past.rows(&sql)? {
        let is_it = |hop: &&mut PathHop| {
            Some(hop.node) == small(&row[0])
                && (hop.egress_interface == small(&row[1]) || hop.egress_interface.is_none())
        };
        for hop in hops.iter_mut().filter(is_it) {
            hop.reports += count(&row[2]);
            (hop.p50, hop.p99, hop.max) = (number(&row[3]), number(&row[4]), number(&row[5]));
        }
    }
    Ok(())
}

/// Adds to each path the event that explains the change to it.
fn explain(
    past: &mut Past,
    id: FlowId,
    range: TimeRange,
    periods: &mut [PathPeriod],
) -> Result<(), QueryError> {
    if periods.iter().all(|period| period.since.is_none()) {
        return Ok(());
    }
    let filter = Filter {
        from: Some(Nanos(range.from.0.saturating_sub(NEAR_NS))),
        to: Some(Nanos(range.to.0.saturating_add(NEAR_NS))),
        kind: Some(inband_model::EventKind::PathChange),
        ..Filter::default()
    };
    let events = past::of_snapshot(past.history(), &filter, usize::MAX, past.left()?)?;
    for period in periods {
        let Some(since) = period.since else { continue };
        let distance = |view: &EventView| view.event.first.0.abs_diff(since.0);
        let is_it = |view: &&EventView| distance(view) <= NEAR_NS && change(view, id).is_some();
        let nearest = events.iter().filter(is_it).min_by_key(|view| distance(view));
        period.reason = nearest.map(|view| PeriodReason {
            event: view.id.to_string(),
            kind: view.event.kind().to_string(),
            change: change(view, id).map(str::to_owned),
        });
    }
    Ok(())
}

/// The kind of path change that an event reports for a flow.
fn change(view: &EventView, id: FlowId) -> Option<&'static str> {
    let EventDetail::PathChange(change) = &view.event.detail else { return None };
    (change.flow.id() == id).then_some(match change.change {
        PathChangeKind::Reroute => "reroute",
        PathChangeKind::EcmpMove => "ecmp-move",
        PathChangeKind::Flap => "flap",
    })
}

fn compare(past: &mut Past, id: FlowId, times: [Nanos; 2]) -> Result<PathComparison, QueryError> {
    let [before, after] = [at_time(past, id, times[0])?, at_time(past, id, times[1])?];
    let links_of =
        |period: &Option<PathPeriod>| period.as_ref().map_or(Vec::new(), |period| links(&period.hops));
    let (left, joined) = difference(&links_of(&before), &links_of(&after));
    Ok(PathComparison { before, after, left, joined })
}

/// The path at a time, with reported latencies from the five seconds around it.
fn at_time(past: &mut Past, id: FlowId, at: Nanos) -> Result<Option<PathPeriod>, QueryError> {
    let range = |half: u64| TimeRange {
        from: Nanos(at.0.saturating_sub(half)),
        to: Nanos(at.0.saturating_add(half.max(1))),
    };
    let moment = TimeRange { from: at, to: Nanos(at.0.saturating_add(1)) };
    let Some(mut period) = periods(past, id, moment, 1)?.0.pop() else { return Ok(None) };
    measure(past, id, range(AROUND_NS), &mut period.hops)?;
    Ok(Some(period))
}

const DEFAULT_LIMIT: u32 = 16;
/// Maximum number of rows of `paths` that are read.
const MAX_PATHS: usize = 10_000;
/// Maximum distance of an event from the path change it explains.
const NEAR_NS: u64 = 5_000_000_000;
/// Maximum distance of reports from the time whose path they measure.
const AROUND_NS: u64 = 2_500_000_000;

#[cfg(test)]
mod tests {
    use super::{difference, hops, links};

    #[test]
    fn links_that_only_one_path_has_left_or_joined() {
        let before = links(&hops("1:7:2 > 3:8:4 > 9"));
        let after = links(&hops("1:7:2 > 3:8:5 > ?:9:?"));
        let (left, joined) = difference(&before, &after);
        assert_eq!((left.len(), left[0].egress_interface), (1, Some(4)));
        assert_eq!((joined.len(), joined[0].egress_interface), (1, Some(5)));
        assert!(hops("").is_empty());
    }
}
