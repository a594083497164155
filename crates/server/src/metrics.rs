//! Metrics: counts and latencies with a bounded number of labels, and none by flow.
//!
//! `seen` takes them from the collector and creates typed families; `text` writes families for Prometheus,
//! and the OTLP output sends the same ones. `chosen` selects the nodes and queues that have series.

mod chosen;
mod exports;
mod seen;
mod text;

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Instant;

use inband_export::{Family, MetricsSource};
use inband_model::Names;

pub(crate) use self::seen::Seen;
pub(crate) use self::text::text;

use self::chosen::Chosen;
use crate::archive::Archive;
use crate::pipeline::Asker;

/// The metrics of one reader, which keeps the series it started with.
#[derive(Debug)]
pub(crate) struct Metrics {
    names: Arc<Names>,
    /// Weak, so that a reader of metrics does not keep the archive open.
    archive: Option<Weak<dyn Archive>>,
    started: Instant,
    chosen: Mutex<Chosen>,
}

impl Metrics {
    /// Creates the metrics of a collector with these names and this archive.
    pub(crate) fn new(names: Arc<Names>, archive: Option<&Arc<dyn Archive>>) -> Self {
        let archive = archive.map(Arc::downgrade);
        Self { names, archive, started: Instant::now(), chosen: Mutex::default() }
    }

    /// Every family, from a view of the collector.
    pub(crate) fn families(&self, seen: Seen) -> Vec<Family> {
        // The selection is consistent at any time.
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = seen.choose(&mut chosen, self.started.elapsed());
        drop(chosen);
        let archive = self.archive.as_ref().and_then(Weak::upgrade);
        seen.families(&self.names, archive.as_deref())
    }
}

/// The metrics of a running collector, for an output that sends them.
#[derive(Debug)]
pub struct CollectorMetrics {
    asker: Asker,
    metrics: Metrics,
    /// The counts at the collector's end.
    last: Arc<OnceLock<Seen>>,
}

impl CollectorMetrics {
    /// Creates the metrics of the collector behind `asker`, with these names and this archive.
    #[must_use]
    pub fn new(asker: Asker, names: Arc<Names>, archive: Option<&Arc<dyn Archive>>) -> Self {
        let last = Arc::new(OnceLock::new());
        let at_end = Arc::clone(&last);
        asker.put_last(move |sight| drop(at_end.set(Seen::of(sight))));
        Self { asker, metrics: Metrics::new(names, archive), last }
    }
}

impl MetricsSource for CollectorMetrics {
    fn families(&self) -> Option<Vec<Family>> {
        let seen = self.asker.ask(Seen::of).ok().or_else(|| self.last.get().cloned())?;
        Some(self.metrics.families(seen))
    }
}

#[cfg(test)]
mod tests;
