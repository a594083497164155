//! Events from history, beyond those that the collector still knows.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use inband_model::{Event, EventId, EventKind, EventView, Flow, FlowId, Nanos, NodeId, Phase, Severity};
use inband_store::{Cell, Limits, QueryError};
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde_json::Value;

use crate::archive::Snapshot;

/// The conditions of wanted events.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    /// Only events active at this time or later.
    pub(super) from: Option<Nanos>,
    /// Only events behind this one, where the latest end comes first.
    pub(super) behind: Option<(Nanos, EventId)>,
    /// Only events that began at this time or earlier.
    pub(super) to: Option<Nanos>,
    pub(super) kind: Option<EventKind>,
    /// Only events of this severity or higher.
    pub(super) severity: Option<Severity>,
    /// Only events that name this node, or are based on its reports.
    pub(super) node: Option<u32>,
    /// Only events whose key contains this text.
    pub(super) key: Option<String>,
    /// Only events that name this flow.
    pub(super) flow: Option<FlowId>,
}

impl Filter {
    /// Whether an event is wanted that has ended, or whose end is unknown.
    pub(super) fn wants(&self, event: &Event) -> bool {
        self.from.is_none_or(|from| event.last >= from)
            && self.behind.is_none_or(|behind| (event.last, event.id()) < behind)
            && self.wants_active(event)
    }

    /// Whether an event that goes on is wanted.
    pub(super) fn wants_active(&self, event: &Event) -> bool {
        self.to.is_none_or(|to| event.first <= to)
            && self.kind.is_none_or(|kind| kind == event.kind())
            && self.severity.is_none_or(|severity| event.severity >= severity)
            && self.key.as_ref().is_none_or(|key| event.key.contains(key))
            && self.node.is_none_or(|node| event.nodes().contains(&NodeId(node)))
            && self.flow.is_none_or(|flow| is_about_flow(event, flow))
    }
}

/// The latest matching events of a snapshot, latest first, at most `most` of them.
///
/// # Errors
/// History costs more than the limits.
pub(super) fn of_snapshot(
    history: &dyn Snapshot,
    filter: &Filter,
    most: usize,
    limits: Limits,
) -> Result<Vec<EventView>, QueryError> {
    let mut views: Vec<EventView> = Vec::new();
    let below =
        filter.behind.map_or(i64::MAX, |(last, _)| i64::try_from(last.0).map_or(i64::MAX, |at| at + 1));
    let mut known = match filter.behind {
        Some(_) => with_later_rows(history, below, limits)?,
        None => HashSet::new(),
    };
    let (mut reach, mut seen, mut below) = (most.saturating_mul(2).clamp(MIN_ROWS, MAX_ROWS), 0, below);
    // Events are large texts: a probable number is read first, and more if needed.
    while views.len() < most && seen < MAX_ROWS {
        let (rows, from) = latest(history, filter, reach, below, limits)?;
        take(&rows, filter, most, &mut views, &mut known);
        let Some(from) = from else { break };
        (seen, below, reach) = (seen + rows.len(), from, reach.saturating_mul(4).min(MAX_ROWS));
    }
    Ok(views)
}

/// One event of history; without a stored id, only if it is among the latest.
///
/// # Errors
/// History costs more than the limits.
pub(super) fn of_id(
    history: &dyn Snapshot,
    id: EventId,
    limits: Limits,
) -> Result<Option<EventView>, QueryError> {
    let sql = format!("SELECT {COLUMNS} FROM events WHERE id = '{id}' ORDER BY time DESC");
    let mut views = Vec::new();
    take(&history.query(&sql, limits)?.rows, &Filter::default(), usize::MAX, &mut views, &mut HashSet::new());
    if let Some(view) = views.into_iter().find(|view| view.id == id) {
        return Ok(Some(view));
    }
    // Earlier versions wrote no ids. An id follows from start, kind and key, so the long texts of other
    // events need not be read.
    let sql =
        format!("SELECT first, kind, key FROM events WHERE id IS NULL ORDER BY time DESC LIMIT {MAX_ROWS}");
    let rows = history.query(&sql, Limits { rows: MAX_ROWS, ..limits })?.rows;
    let Some((_, first)) = ids(&rows).find(|(of_row, _)| *of_row == id) else { return Ok(None) };
    let sql =
        format!("SELECT {COLUMNS} FROM events WHERE time >= {first} AND first = {first} ORDER BY time DESC");
    let mut views = Vec::new();
    take(&history.query(&sql, limits)?.rows, &Filter::default(), usize::MAX, &mut views, &mut HashSet::new());
    Ok(views.into_iter().find(|view| view.id == id))
}

/// The events that began before a time and have rows from it on: their earlier rows are out of date.
fn with_later_rows(
    history: &dyn Snapshot,
    below: i64,
    limits: Limits,
) -> Result<HashSet<EventId>, QueryError> {
    let sql = format!("SELECT first, kind, key FROM events WHERE time >= {below} AND first < {below}");
    let rows = history.query(&sql, Limits { rows: MAX_ROWS, ..limits })?.rows;
    Ok(ids(&rows).map(|(id, _)| id).collect())
}

/// The ids of events, each with the event's start, from rows of `first`, `kind` and `key`.
fn ids(rows: &[Vec<Cell>]) -> impl Iterator<Item = (EventId, i64)> {
    let mut kinds: HashMap<&str, Option<EventKind>> = HashMap::new();
    rows.iter().filter_map(move |row| {
        let [Cell::Integer(first), Cell::Text(kind), Cell::Text(key)] = row.as_slice() else { return None };
        let kind = (*kinds.entry(kind.as_str()).or_insert_with(|| word(kind)))?;
        let begun = Nanos(u64::try_from(*first).ok()?);
        Some((EventId::of(kind, key, begun), *first))
    })
}

/// The rows of the latest `reach` events that may match and ended before `below`, complete for each time, and
/// the earliest of their times; `None` if there are no earlier rows.
fn latest(
    history: &dyn Snapshot,
    filter: &Filter,
    reach: usize,
    below: i64,
    limits: Limits,
) -> Result<(Vec<Vec<Cell>>, Option<i64>), QueryError> {
    let nanos = |time: Nanos| i64::try_from(time.0).unwrap_or(i64::MAX);
    // Names of kinds are words with hyphens, and everything else is a number: nothing needs escaping.
    let kind = filter.kind.map(|kind| format!(" AND kind = '{}'", kind.name())).unwrap_or_default();
    let (first, until) = (filter.from.map_or(0, nanos), filter.to.map_or(i64::MAX, nanos));
    // Earlier versions wrote no nodes.
    let nodes = match filter.node {
        Some(node) => vec![format!(" AND nodes LIKE '% {node} %'"), " AND nodes IS NULL".to_owned()],
        None => vec![String::new()],
    };
    let wanted = |from: i64, nodes: &str| {
        format!("FROM events WHERE time >= {from} AND time < {below} AND first <= {until}{kind}{nodes}")
    };
    let mut from = None;
    for nodes in &nodes {
        let sql = format!("SELECT time {} ORDER BY time DESC LIMIT 1 OFFSET {reach}", wanted(first, nodes));
        if let Some([Cell::Integer(time)]) = history.query(&sql, limits)?.rows.first().map(Vec::as_slice) {
            from = from.max(Some(*time));
        }
    }
    let mut rows = Vec::new();
    for nodes in &nodes {
        let wanted = wanted(from.unwrap_or(first), nodes);
        let sql = format!("SELECT {COLUMNS} {wanted} ORDER BY time DESC LIMIT {MAX_ROWS}");
        rows.append(&mut history.query(&sql, limits)?.rows);
    }
    if nodes.len() > 1 {
        let time = |row: &Vec<Cell>| match row.first() {
            Some(Cell::Integer(time)) => *time,
            _ => 0,
        };
        rows.sort_by_key(|row| Reverse(time(row)));
    }
    Ok((rows, from))
}

/// Adds the matching events of rows, latest first: the latest row of an event is the event.
fn take(
    rows: &[Vec<Cell>],
    filter: &Filter,
    most: usize,
    views: &mut Vec<EventView>,
    known: &mut HashSet<EventId>,
) {
    for rows in rows.chunk_by(|a, b| a.first() == b.first()) {
        let may_be = |row: &&Vec<Cell>| may_be_about(row, filter);
        let mut events: Vec<Event> = rows.iter().filter(may_be).filter_map(|row| event(row)).collect();
        // In the order of pages. The end contains all that the beginning does, also where both are of the
        // same time.
        events.sort_by_cached_key(|event| (Reverse(event.id()), event.phase != Phase::End));
        for event in events {
            let id = event.id();
            if !known.insert(id) || !filter.wants(&event) {
                continue;
            }
            if views.len() >= most {
                return;
            }
            views.push(EventView { id, event, acknowledged: None });
        }
    }
}

/// Whether the texts of a row can name the wanted node; cheaper than parsing them.
fn may_be_about(row: &[Cell], filter: &Filter) -> bool {
    let Some(node) = filter.node else { return true };
    let number = node.to_string();
    row.iter().any(|cell| matches!(cell, Cell::Text(text) if text.contains(&number)))
}

/// The event of a row; `None` if another version wrote it.
fn event(row: &[Cell]) -> Option<Event> {
    let [time, first, kind, severity, confidence, key, count, detail, evidence, phase, silenced, end_reason] =
        row
    else {
        return None;
    };
    let number = |cell: &Cell| match cell {
        Cell::Integer(number) => u64::try_from(*number).ok(),
        _ => None,
    };
    // The kind comes first, so that the detail is parsed directly as its type.
    let kind = serde_json::to_string(text(kind)?).ok()?;
    let tagged = format!(r#"{{"event":{kind},"detail":{}}}"#, text(detail)?);
    let end_reason = match text(end_reason) {
        Some("") | None => None,
        Some(reason) => Some(word(reason)?),
    };
    Some(Event {
        detail: serde_json::from_str(&tagged).ok()?,
        severity: word(text(severity)?)?,
        confidence: word(text(confidence)?)?,
        key: text(key)?.to_owned(),
        count: number(count)?,
        first: Nanos(number(first)?),
        last: Nanos(number(time)?),
        evidence: serde_json::from_str(text(evidence)?).ok()?,
        phase: word(text(phase)?)?,
        silenced: !matches!(silenced, Cell::Null | Cell::Integer(0)),
        end_reason,
    })
}

fn text(cell: &Cell) -> Option<&str> {
    match cell {
        Cell::Text(text) => Some(text),
        _ => None,
    }
}

/// Parses a word.
fn word<T: DeserializeOwned>(text: &str) -> Option<T> {
    T::deserialize(text.into_deserializer() as StrDeserializer<'_, ValueError>).ok()
}

/// Whether an event names a flow.
fn is_about_flow(event: &Event, flow: FlowId) -> bool {
    serde_json::to_value(&event.detail).is_ok_and(|detail| names_flow(&detail["detail"], flow))
}

fn names_flow(value: &Value, flow: FlowId) -> bool {
    match value {
        Value::Array(all) => all.iter().any(|value| names_flow(value, flow)),
        Value::Object(all) => {
            let is_flow = all.contains_key("source_port") && all.contains_key("protocol");
            let named = is_flow.then(|| serde_json::from_value::<Flow>(value.clone()).ok()).flatten();
            named.is_some_and(|named| named.id() == flow) || all.values().any(|value| names_flow(value, flow))
        }
        _ => false,
    }
}

/// The columns of an event.
const COLUMNS: &str =
    "time, first, kind, severity, confidence, key, count, detail, evidence, phase, silenced, end_reason";
/// Number of rows read first.
const MIN_ROWS: usize = 128;
/// Maximum number of rows read for one answer.
const MAX_ROWS: usize = 50_000;

#[cfg(test)]
mod tests;
