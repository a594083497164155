//! The payload of a frame.
//!
//! The number of reports, the hops as columns, and the rest, which is rare, as JSON up to the end.

use inband_model::{Event, LedgerView, Nanos, PathObservation, ReportBytes};
use serde::{Deserialize, Serialize};

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

/// Reads a batch; `None` if the payload is not one.
pub(super) fn decode(payload: &[u8]) -> Option<Batch> {
    let mut cursor = Cursor(payload);
    let reports = cursor.number()?;
    let hops = get_hops(&mut cursor)?;
    get_rare(cursor.0, Batch { hops, reports, ..Batch::default() })
}

/// Reads the rare rows into a batch.
pub(super) fn get_rare(json: &[u8], batch: Batch) -> Option<Batch> {
    let RareOwned { paths, events, ledgers, evidence } = match json {
        [] => RareOwned::default(),
        json => serde_json::from_slice(json).ok()?,
    };
    Some(Batch { paths, events, ledgers, evidence, ..batch })
}
