//! Report datagrams: the newest ones, and those that are evidence of events.

mod kept;

use std::collections::BTreeMap;

use axum::extract::{Path, State};
use axum::response::Response;
use inband_explain::explain;
use inband_model::api::{
    DecodeStart, Exact, KeptReport, ReportColumns, ReportList, ReportQuestion, ReportsQuestion, TimeRange,
    TimeSelection,
};
use inband_model::{EventView, Nanos, NodeId, ReportReference, from_hex, to_hex};
use inband_store::QueryError;

use self::kept::{Bytes, Kept, Key, Wanted, distance, of_recent};
use super::Shared;
use super::asked::Asked;
use super::events::event_of;
use super::history::{self, Past, count, number, small, text};
use super::problem::{Problem, shown};
use super::views::json;

/// Datagrams whose bytes are kept, latest first.
pub(super) async fn reports(
    State(state): State<Shared>,
    Asked(question): Asked<ReportsQuestion>,
) -> Result<Response, Problem> {
    let limit = question.limit.unwrap_or(DEFAULT_LIMIT) as usize;
    let below = question.after.as_deref().map(cursor).transpose()?;
    let event = match question.event.as_deref() {
        Some(id) => Some(event_of(&state, "event", id).await?),
        None => None,
    };
    let range = match (&event, question.time == TimeSelection::default()) {
        (Some(view), true) => reports_of(view),
        _ => question.time.resolve(state.read.now().await?)?,
    };
    let blocks = state.look(|sight| sight.recent()).await?;
    let wanted = Wanted { range, node: question.node.map(NodeId), below, limit: limit + 1 };
    let references = event.as_ref().map(|view| view.event.evidence.clone());
    let recent_from = blocks.iter().filter_map(|block| block.times()).map(|(first, _)| first).min();
    let (mut found, damage) = if state.archive.is_some() {
        let (wanted, event) = (wanted.clone(), event.clone());
        history::ask(&state, move |past| Ok((of_history(past, &wanted, event.as_ref())?, past.damage())))
            .await?
    } else {
        (BTreeMap::new(), 0)
    };
    let listed = tokio::task::spawn_blocking(move || {
        of_recent(&blocks, &wanted, references.as_deref(), &mut found);
        list(found, range, limit, recent_from)
    });
    let listed = listed.await.map_err(|_| Problem::stopped())?;
    Ok(json(&ReportList { damage, ..listed }))
}

/// One datagram, with its bytes and fields.
pub(super) async fn report(
    State(state): State<Shared>,
    Path((node, hw_id, sequence)): Path<(String, String, String)>,
    Asked(question): Asked<ReportQuestion>,
) -> Result<Response, Problem> {
    let wanted = ReportReference {
        node_id: NodeId(part("node", &node, u32::MAX)?),
        hw_id: u8::try_from(part("hw_id", &hw_id, u8::MAX.into())?).unwrap_or(u8::MAX),
        sequence: part("sequence", &sequence, u32::MAX)?,
        received_at: question.at.map_or(Nanos::MAX, |time| time.0),
    };
    let at = question.at.map(|time| time.0);
    let around = TimeRange {
        from: Nanos(at.map_or(0, |at| at.0.saturating_sub(AROUND_NS))),
        to: Nanos(at.map_or(i64::MAX as u64, |at| at.0.saturating_add(AROUND_NS))),
    };
    let blocks = state.look(|sight| sight.recent()).await?;
    let recent = tokio::task::spawn_blocking(move || kept::nearest(&blocks, &wanted, around, at));
    let recent = recent.await.map_err(|_| Problem::stopped())?;
    let stored = match state.archive.is_some() {
        true => history::ask(&state, move |past| stored(past, &wanted, around, at)).await?,
        false => None,
    };
    let found = match (recent, stored) {
        (Some(recent), Some((stored, _))) if recent.key.time == stored.key.time => {
            Some((Kept { events: stored.events, ..recent }, true))
        }
        (Some(recent), Some((stored, bytes))) => {
            let is_nearer = distance(recent.key.time, at) <= distance(stored.key.time, at);
            Some(if is_nearer {
                (recent, true)
            } else {
                (Kept { bytes: Bytes::Whole(bytes), ..stored }, false)
            })
        }
        (Some(recent), None) => Some((recent, true)),
        (None, Some((stored, bytes))) => Some((Kept { bytes: Bytes::Whole(bytes), ..stored }, false)),
        (None, None) => None,
    };
    let missing = "the bytes of this report are not kept: it is neither among the newest datagrams nor evidence of an event";
    let (kept, recent) = found.ok_or_else(|| Problem::not_found(missing))?;
    let Bytes::Whole(bytes) = kept.bytes else { return Err(Problem::not_found(missing)) };
    Ok(json(&KeptReport {
        node_id: wanted.node_id.0,
        hw_id: wanted.hw_id,
        sequence: wanted.sequence,
        received_at: kept.key.time.into(),
        source: kept.source,
        session: kept.session,
        length: kept.length,
        recent,
        events: kept.events,
        decoded: explain(&bytes, DecodeStart::Report),
    }))
}

/// The time range in which the evidence of an event arrived.
fn reports_of(view: &EventView) -> TimeRange {
    let times = view.event.evidence.iter().map(|report| report.received_at);
    let first = times.clone().fold(view.event.first, Nanos::min);
    let last = times.fold(view.event.last, Nanos::max);
    TimeRange { from: first, to: Nanos(last.0.saturating_add(1)) }
}

fn part(name: &str, text: &str, most: u32) -> Result<u32, Problem> {
    let shown = shown(text);
    let wrong = || {
        Problem::parameter(
            name,
            format!("`{shown}` is not allowed for {name}"),
            format!("a whole number from 0 to {most}"),
        )
    };
    text.parse().ok().filter(|number| *number <= most).ok_or_else(wrong)
}

/// The reports that are evidence of events: first as many of the latest rows as are likely to suffice, then
/// all.
fn of_history(
    past: &mut Past,
    wanted: &Wanted,
    event: Option<&EventView>,
) -> Result<BTreeMap<Key, Kept>, QueryError> {
    // A report has a row for each event that is based on it.
    let found = of_rows(past, wanted, event, wanted.limit.saturating_mul(4).clamp(256, MAX_ROWS))?;
    match found.len() >= wanted.limit {
        true => Ok(found),
        false => of_rows(past, wanted, event, MAX_ROWS),
    }
}

/// The reports in the latest `rows` rows; rows of the same time are read together.
fn of_rows(
    past: &mut Past,
    wanted: &Wanted,
    event: Option<&EventView>,
    rows: usize,
) -> Result<BTreeMap<Key, Kept>, QueryError> {
    let clip = |time: Nanos| i64::try_from(time.0).unwrap_or(i64::MAX);
    let node = wanted.node.map(|node| format!(" AND node_id = {}", node.0)).unwrap_or_default();
    let of_event = event.map(|view| format!(" AND event = '{}'", view.id)).unwrap_or_default();
    let to = wanted.below.map_or(wanted.range.to, |below| Nanos(below.time.0 + 1).min(wanted.range.to));
    let wanted_rows =
        |from: i64| format!("FROM reports WHERE time >= {from} AND time < {}{node}{of_event}", clip(to));
    let mut from = clip(wanted.range.from);
    if rows < MAX_ROWS {
        let sql = format!("SELECT time {} ORDER BY time DESC LIMIT 1 OFFSET {rows}", wanted_rows(from));
        from =
            past.rows(&sql)?.first().and_then(|row| number(&row[0])).map_or(from, |time| clip(Nanos(time)));
    }
    let sql = format!(
        "SELECT time, node_id, hw_id, sequence, length, source, session, event, version {} \
         ORDER BY time DESC LIMIT {MAX_ROWS}",
        wanted_rows(from)
    );
    let mut found: BTreeMap<Key, Kept> = BTreeMap::new();
    for row in past.rows(&sql)? {
        let key = Key {
            time: Nanos(count(&row[0])),
            node: small(&row[1]).map(NodeId),
            hw_id: u8::try_from(count(&row[2])).unwrap_or(u8::MAX),
            sequence: small(&row[3]).unwrap_or(0),
        };
        if wanted.below.is_some_and(|below| key >= below) {
            continue;
        }
        let kept = found.entry(key).or_insert_with(|| Kept {
            key,
            source: text(&row[5]).unwrap_or("").to_owned(),
            session: text(&row[6]).unwrap_or("").to_owned(),
            length: small(&row[4]).unwrap_or(0),
            version: text(&row[8]).unwrap_or("").to_owned(),
            events: Vec::new(),
            bytes: Bytes::None,
        });
        kept.events.extend(text(&row[7]).map(str::to_owned).filter(|event| !kept.events.contains(event)));
    }
    Ok(found)
}

/// The stored evidence nearest to a time, with its bytes.
fn stored(
    past: &mut Past,
    wanted: &ReportReference,
    around: TimeRange,
    at: Option<Nanos>,
) -> Result<Option<(Kept, Vec<u8>)>, QueryError> {
    let sql = format!(
        "SELECT time, length, source, session, event, bytes FROM reports WHERE {} AND node_id = {} AND hw_id = {} \
         AND sequence = {} ORDER BY time DESC LIMIT {MAX_NAMED}",
        history::within(around),
        wanted.node_id.0,
        wanted.hw_id,
        wanted.sequence
    );
    let rows = past.rows(&sql)?;
    let Some(nearest) =
        rows.iter().filter_map(|row| number(&row[0])).min_by_key(|time| distance(Nanos(*time), at))
    else {
        return Ok(None);
    };
    let mut found: Option<(Kept, Vec<u8>)> = None;
    for row in rows.iter().filter(|row| number(&row[0]) == Some(nearest)) {
        let (kept, _) = found.get_or_insert_with(|| {
            let ReportReference { node_id, hw_id, sequence, .. } = *wanted;
            let kept = Kept {
                key: Key { time: Nanos(nearest), node: Some(node_id), hw_id, sequence },
                source: text(&row[2]).unwrap_or("").to_owned(),
                session: text(&row[3]).unwrap_or("").to_owned(),
                length: small(&row[1]).unwrap_or(0),
                version: String::new(),
                events: Vec::new(),
                bytes: Bytes::None,
            };
            (kept, text(&row[5]).and_then(from_hex).unwrap_or_default())
        });
        kept.events.extend(text(&row[4]).map(str::to_owned).filter(|event| !kept.events.contains(event)));
    }
    Ok(found)
}

/// The answer: the latest of the reports found.
fn list(
    found: BTreeMap<Key, Kept>,
    range: TimeRange,
    limit: usize,
    recent_from: Option<Nanos>,
) -> ReportList {
    let is_more = found.len() > limit;
    let page: Vec<Kept> = found.into_values().rev().take(limit).collect();
    let base = page.last().map_or(range.from, |last| last.key.time);
    let next = page.last().filter(|_| is_more).map(|last| last.key.to_cursor());
    let mut reports = ReportColumns::default();
    for Kept { key, source, session, length, version, events, bytes } in page {
        reports.time.push(key.time.since(base).0);
        reports.node.push(key.node.map(|node| node.0));
        reports.hw_id.push(key.hw_id);
        reports.sequence.push(key.sequence);
        reports.version.push(version);
        reports.length.push(length);
        reports.source.push(source);
        reports.session.push(session);
        reports.events.push(events);
        reports.hex.push(match bytes {
            Bytes::Whole(bytes) => Some(to_hex(&bytes)),
            Bytes::None => None,
        });
    }
    let recent_from = recent_from.map(Exact::from);
    ReportList {
        from: range.from.into(),
        to: range.to.into(),
        base: base.into(),
        reports,
        next,
        recent_from,
        damage: 0,
    }
}

fn cursor(text: &str) -> Result<Key, Problem> {
    let wrong = || Problem::parameter("after", "after does not name a page", "the `next` of the page before");
    Key::of_cursor(text).ok_or_else(wrong)
}

const DEFAULT_LIMIT: u32 = 100;
/// How far around a time a report is searched.
const AROUND_NS: u64 = 1_000_000_000;
/// Maximum number of rows of evidence read for one answer.
const MAX_ROWS: usize = 10_000;
/// Maximum number of rows of one report.
const MAX_NAMED: usize = 1_000;
