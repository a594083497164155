//! The monitoring system at work: reception, collector, history, live view, outputs and API.

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

/// The parts of a monitor. Sockets and the store are open already: what opens them may need privileges that the rest does
/// not, and their owner says what was granted.
#[derive(Debug)]
pub struct MonitorParts {
    /// The sockets that reports come in by.
    pub reception: Reception,
    /// What comes in by them.
    pub feed: Feed,
    /// The settings of the collector.
    pub collector: CollectorSettings,
    /// History; `None`: none is kept.
    pub store: Option<Arc<Store>>,
    /// Names beside numbers.
    pub names: Arc<Names>,
    /// The socket of the API; `None`: nobody is answered.
    pub listening: Option<Listening>,
    /// The outputs that are set up.
    pub exports: Exports,
    /// What takes what the collector gives out, beside history and the live view: the stages of `exports` among them.
    pub stages: Vec<Box<dyn Stage>>,
}

/// Everything from the sockets of reports to the answers of the API, while it runs.
///
/// [`stop`](Self::stop) ends the parts in the order in which nothing is lost: first what comes in, then the collector with
/// its stages, which take what it still has to say, then the API, and the store last.
#[derive(Debug)]
pub struct Monitor {
    reception: Reception,
    pipeline: Pipeline,
    exports: Exports,
    api: Option<Api>,
    store: Option<Arc<Store>>,
}

/// What is left of a monitor.
#[derive(Debug)]
pub struct Stopped {
    /// The ledger; `None`: the collector has failed.
    pub outcome: Option<Outcome>,
    /// What became of the reports that were to be stored; `None`: no history was kept, or somebody still holds the store.
    pub tally: Option<Tally>,
}

/// Why a monitor does not start.
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
    /// A thread that cannot be started.
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

    /// The sockets that reports come in by.
    #[must_use]
    pub fn reception(&self) -> &Reception {
        &self.reception
    }

    /// Asks the collector, from any thread.
    #[must_use]
    pub fn asker(&self) -> Asker {
        self.pipeline.asker()
    }

    /// The outputs.
    #[must_use]
    pub fn exports(&self) -> &Exports {
        &self.exports
    }

    /// The API, where there is one.
    #[must_use]
    pub fn api(&self) -> Option<&Api> {
        self.api.as_ref()
    }

    /// Whether the collector has come to its end by itself, which is a failure.
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
        // Segments are made of what is in the log where nobody else holds the store any more.
        Stopped { outcome, tally: store.and_then(Arc::into_inner).map(Store::close) }
    }
}
