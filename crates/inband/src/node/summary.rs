//! The counters of a run, as text or as JSON.

use std::io::{self, Write};

use anyhow::Context;
use inband_node::Counters;
use serde::Serializer;

use crate::failure::Failure;
use crate::stdout::Stdout;

/// Prints the counters: all of them as one JSON object on stdout, or the non-zero ones on stderr.
pub(super) fn print(counters: &Counters, json: bool) -> Result<(), Failure> {
    if json {
        let all = std::iter::once(("packets", counters.packets()));
        let named = counters.iter().map(|(outcome, count)| (outcome.name(), count));
        let mut out = Stdout::new();
        let mut json = serde_json::Serializer::new(&mut out);
        json.collect_map(all.chain(named)).map_err(io::Error::from).context(WRITE)?;
        writeln!(out).context(WRITE)?;
        return Ok(());
    }
    let mut err = io::stderr().lock();
    let lines = counters.iter().filter(|(_, count)| *count > 0);
    // A summary that cannot be printed is not a failure.
    let _ = writeln!(err, "{:>10} packets", counters.packets());
    for (outcome, count) in lines {
        let _ = writeln!(err, "{count:>10} {}", outcome.name());
    }
    Ok(())
}

const WRITE: &str = "cannot write the output";
