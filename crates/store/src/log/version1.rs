//! What is the payload of a frame?
//!
//! Reports, number of hops, hops, and what comes rarely as JSON up to the end.

use inband_model::{Event, HopRecord, LedgerView, Nanos, PathObservation};
use serde::{Deserialize, Serialize};

use super::cursor::{Cursor, put_number};
use super::hops::{get_hop, put_hop};
use crate::batch::Batch;

/// What comes rarely.
#[derive(Serialize)]
struct Rare<'a> {
    paths: &'a [PathObservation],
    events: &'a [Event],
    ledgers: &'a [(Nanos, LedgerView)],
}

/// The same, read back.
#[derive(Default, Deserialize)]
struct RareOwned {
    paths: Vec<PathObservation>,
    events: Vec<Event>,
    ledgers: Vec<(Nanos, LedgerView)>,
}

/// Appends a batch; says whether it could.
pub(super) fn encode(batch: &Batch, bytes: &mut Vec<u8>) -> bool {
    put_number(bytes, batch.reports);
    put_number(bytes, batch.hops.len() as u64);
    let mut previous = HopRecord::default();
    for hop in &batch.hops {
        put_hop(bytes, hop, &previous);
        previous = *hop;
    }
    let Batch { paths, events, ledgers, .. } = batch;
    if paths.is_empty() && events.is_empty() && ledgers.is_empty() {
        return true;
    }
    serde_json::to_writer(bytes, &Rare { paths, events, ledgers }).is_ok()
}

/// Reads a batch; `None` when the payload is not one.
pub(super) fn decode(payload: &[u8]) -> Option<Batch> {
    let mut cursor = Cursor(payload);
    let reports = cursor.number()?;
    let count = usize::try_from(cursor.number()?).ok()?;
    // A hop takes several bytes, so that the payload bounds the memory.
    let mut hops = Vec::with_capacity(count.min(payload.len() / 4));
    let mut previous = HopRecord::default();
    for _ in 0..count {
        previous = get_hop(&mut cursor, &previous)?;
        hops.push(previous);
    }
    let RareOwned { paths, events, ledgers } = match cursor.0 {
        [] => RareOwned::default(),
        json => serde_json::from_slice(json).ok()?,
    };
    Some(Batch { hops, reports, paths, events, ledgers })
}
