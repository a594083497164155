//! The payload of a frame.
//!
//! The number of reports, the hops as columns, and the rest, which is rare, as JSON up to the end.

use inband_model::{Event, LedgerView, Nanos, PathObservation, ReportBytes};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cursor::{Cursor, put_number};
use super::hops::{get_hops, put_hops};
use crate::batch::Batch;

/// The rare rows.
#[derive(Serialize)]
struct Rare<'a> {
    paths: &'a [PathObservation],
    events: &'a [Event],
    ledgers: &'a [(Nanos, LedgerView)],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    evidence: &'a [ReportBytes],
}

/// The rare rows, read back.
#[derive(Default, Deserialize)]
struct RareOwned {
    paths: Vec<PathObservation>,
    events: Vec<Event>,
    ledgers: Vec<(Nanos, LedgerView)>,
    /// Missing in frames of earlier programs.
    #[serde(default)]
    evidence: Vec<ReportBytes>,
}

/// Appends a batch; returns whether it could.
pub(super) fn encode(batch: &Batch, bytes: &mut Vec<u8>) -> bool {
    put_number(bytes, batch.reports);
    if !put_hops(bytes, &batch.hops) {
        return false;
    }
    let Batch { paths, events, ledgers, evidence, .. } = batch;
    if paths.is_empty() && events.is_empty() && ledgers.is_empty() && evidence.is_empty() {
        return true;
    }
    serde_json::to_writer(bytes, &Rare { paths, events, ledgers, evidence }).is_ok()
}

/// A batch that was read back.
#[derive(Debug, PartialEq)]
pub(super) struct Decoded {
    pub(super) batch: Batch,
    /// Whether all rare rows could be read: one may be of a kind that this version does not know.
    pub(super) is_whole: bool,
}

/// Reads a batch; `None` if the payload is not one.
pub(super) fn decode(payload: &[u8]) -> Option<Decoded> {
    let mut cursor = Cursor(payload);
    let reports = cursor.number()?;
    let hops = get_hops(&mut cursor)?;
    Some(get_rare(cursor.0, Batch { hops, reports, ..Batch::default() }))
}

/// Reads the rare rows into a batch, as far as they can be read.
pub(super) fn get_rare(json: &[u8], batch: Batch) -> Decoded {
    let read = match json {
        [] => Some(RareOwned::default()),
        json => serde_json::from_slice(json).ok(),
    };
    let is_whole = read.is_some();
    let RareOwned { paths, events, ledgers, evidence } = read.unwrap_or_else(|| get_each(json));
    Decoded { batch: Batch { paths, events, ledgers, evidence, ..batch }, is_whole }
}

/// The rare rows that can be read, one by one.
fn get_each(json: &[u8]) -> RareOwned {
    let rows: Value = serde_json::from_slice(json).unwrap_or_default();
    RareOwned {
        paths: readable(&rows["paths"]),
        events: readable(&rows["events"]),
        ledgers: readable(&rows["ledgers"]),
        evidence: readable(&rows["evidence"]),
    }
}

fn readable<T: DeserializeOwned>(rows: &Value) -> Vec<T> {
    let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().filter_map(|row| T::deserialize(row).ok()).collect()
}
