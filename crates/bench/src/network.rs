//! History of a network: how fast its rows are stored, and how large they become.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use inband_model::HopColumns;
use inband_store::{Batch, History};
use inband_testkit::network::{HOPS, Network};

use crate::history::{finish, observation_bytes, offer, open, processor_time};

/// Stores that many rows of the network in a new store; returns how long it took and how large they are.
///
/// # Errors
/// Not all of them were stored.
pub(crate) fn report(path: &Path, rows: u64) -> Result<String> {
    let reports = rows.div_ceil(HOPS as u64);
    let mut network = Network::new(SEED, reports);
    // Created before, so that only storing is measured.
    let mut batches: Vec<(u64, HopColumns)> = Vec::new();
    let mut left = reports;
    while left > 0 {
        let some = left.min(BATCH);
        batches.push((some, network.reports(usize::try_from(some)?)));
        left -= some;
    }
    let store = open(path)?;
    let (started, used) = (Instant::now(), processor_time()?);
    for (reports, hops) in batches {
        offer(&store, Batch { hops, reports, ..Batch::default() })?;
    }
    let stored = finish("store", store, reports, started, used)?;
    let bytes = observation_bytes(path)?;
    let all = History::open(path)?.bytes();
    let each = |bytes: u64| bytes as f64 / (reports * HOPS as u64) as f64;
    Ok(format!(
        "A network's history: {rows} rows of 672 nodes and 200,000 flows\n{stored}\n\
         on disk: {:.2} bytes a hop, {:.2} with all roll-ups",
        each(bytes),
        each(all)
    ))
}

/// Number of reports passed on at once.
const BATCH: u64 = 1_638;
/// Arbitrary; the figures of the documentation use this seed.
const SEED: u64 = 1;
