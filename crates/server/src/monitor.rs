//! The complete monitoring system: reception, collector, history, live view, outputs and API.

use std::io;
use std::sync::Arc;

use inband_collector::CollectorSettings;
use inband_export::{Exports, Stage};
use inband_model::Names;
use inband_store::{Store, Tally};
use thiserror::Error;

use crate::api::{Api, ApiError, Listening};
use crate::archive::Archive;
use crate::keep::Keep;
use crate::live::Live;
use crate::metrics::CollectorMetrics;
use crate::pipeline::{Asker, Outcome, Pipeline};
use crate::receive::{Feed, Reception};

/// The parts of a monitor. Sockets and the store are already open: opening them may need privileges that the
/// rest does not, and their owner reports what was granted.
#[derive(Debug)]
pub struct MonitorParts {
    /// The sockets that receive reports.
    pub reception: Reception,
    /// The datagrams from these sockets.
    pub feed: Feed,
    /// The settings of the collector.
    pub collector: CollectorSettings,
    /// History; `None` if none is kept.
    pub store: Option<Arc<Store>>,
    /// Names beside numbers.
    pub names: Arc<Names>,
    /// The socket of the API; `None` without API.
    pub listening: Option<Listening>,
    /// The configured outputs.
    pub exports: Exports,
    /// The stages that receive the collector's output, besides history and the live view; includes the stages
    /// of `exports`.
    pub stages: Vec<Box<dyn Stage>>,
}

/// Everything from the sockets of reports to the answers of the API, while running.
///
/// [`stop`](Self::stop) ends the parts in an order that loses nothing: first reception, then the collector
/// with its stages, which receive its remaining output, then the API, and the store last.
#[derive(Debug)]
pub struct Monitor {
    reception: Reception,
    pipeline: Pipeline,
    exports: Exports,
    api: Option<Api>,
    store: Option<Arc<Store>>,
}

/// The results of a stopped monitor.
#[derive(Debug)]
pub struct Stopped {
    /// The ledger; `None` if the collector has failed.
    pub outcome: Option<Outcome>,
    /// Counts of the reports to store, by outcome; `None` if no history was kept, or the store is still in
    /// use.
    pub tally: Option<Tally>,
}

/// Why a monitor cannot start.
#[derive(Debug, Error)]
pub enum MonitorError {
    /// The collector's thread cannot be started.
    #[error("cannot start the collector")]
    Collector(#[source] io::Error),
    /// The API cannot be started.
    #[error(transparent)]
    Api(#[from] ApiError),
}

impl Monitor {
    /// Starts every part behind the sockets.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(parts: MonitorParts) -> Result<Self, MonitorError> {
        let MonitorParts { reception, feed, collector, store, names, listening, exports, stages } = parts;
        let live = Live::new(Arc::clone(&names));
        let keep = store.as_ref().map(|store| Box::new(Keep::new(Arc::clone(store))) as Box<dyn Stage>);
        let windows = listening.as_ref().and_then(Listening::windows);
        let of_windows = windows.clone().map(|windows| Box::new(windows) as Box<dyn Stage>);
        let live_view = Box::new(live.clone()) as Box<dyn Stage>;
        let stages = keep.into_iter().chain(of_windows).chain([live_view]).chain(stages).collect();
        let pipeline = Pipeline::start(collector, feed, stages).map_err(MonitorError::Collector)?;
        let archive = store.clone().map(|store| store as Arc<dyn Archive>);
        exports.measure(CollectorMetrics::new(pipeline.asker(), Arc::clone(&names), archive.as_ref()));
        let api = listening
            .map(|listening| Api::start(listening, pipeline.asker(), archive, live, windows, names))
            .transpose()?;
        Ok(Self { reception, pipeline, exports, api, store })
    }

    /// The sockets that receive reports.
    #[must_use]
    pub fn reception(&self) -> &Reception {
        &self.reception
    }

    /// The handle for queries to the collector, from any thread.
    #[must_use]
    pub fn asker(&self) -> Asker {
        self.pipeline.asker()
    }

    /// The outputs.
    #[must_use]
    pub fn exports(&self) -> &Exports {
        &self.exports
    }

    /// The API, if configured.
    #[must_use]
    pub fn api(&self) -> Option<&Api> {
        self.api.as_ref()
    }

    /// Whether the collector has ended by itself, which is a failure.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.pipeline.is_finished()
    }

    /// Ends every part. What has arrived is counted, stored and sent first.
    #[must_use]
    pub fn stop(self) -> Stopped {
        let Self { reception, pipeline, exports, api, store } = self;
        reception.stop();
        let outcome = pipeline.stop();
        if let Some(api) = api {
            api.stop();
        }
        drop(exports);
        // The log becomes segments if the store is not in use elsewhere.
        Stopped { outcome, tally: store.and_then(Arc::into_inner).map(Store::close) }
    }
}
