//! State shared by all handlers.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use inband_model::{EventId, EventView, Names, Silence};
use inband_store::Limits;
use tokio::sync::{Semaphore, oneshot};

use super::access::Access;
use super::aside::Aside;
use super::base::BasePath;
use super::cost::counted;
use super::followers::Followers;
use super::past::{self, Filter};
use super::places::Places;
use super::problem::Problem;
use super::said::SaidStore;
use super::turn::turn;
use crate::archive::Archive;
use crate::live::Live;
use crate::metrics::Metrics;
use crate::pipeline::{Asker, Sight};
use crate::read_model::ReadModel;
use crate::settings::ApiSettings;
use crate::windows::Windows;

/// State shared by all handlers.
#[derive(Debug)]
pub(super) struct State {
    pub(super) asker: Asker,
    pub(super) read: ReadModel,
    /// `None` if no history is kept.
    pub(super) archive: Option<Arc<dyn Archive>>,
    pub(super) live: Live,
    /// Recent values; `None` if they are not kept.
    pub(super) windows: Option<Windows>,
    pub(super) names: Arc<Names>,
    pub(super) metrics: Metrics,
    pub(super) access: Access,
    pub(super) base: BasePath,
    pub(super) places: Arc<Places>,
    pub(super) said: SaidStore,
    /// The latest events of earlier runs.
    pub(super) earlier: OnceLock<Vec<EventView>>,
    pub(super) settings: ApiSettings,
    /// Permits for concurrent SQL queries.
    pub(super) queries: Arc<Semaphore>,
    pub(super) aside: Aside,
    /// Followers of changes in the fabric.
    pub(super) followers: Arc<Followers>,
}

/// The state as handlers share it.
pub(super) type Shared = Arc<State>;

impl State {
    /// Restores the silences of earlier runs.
    pub(super) fn restore(&self) {
        let restored = self.asker.ask(|sight| sight.now).and_then(|now| {
            let silences = self.said.silences(now);
            self.asker.ask(move |sight| {
                let restore = |(number, silence): (u64, Silence)| {
                    let number = sight.collector.restore_silence(number, silence.clone())?;
                    Some((number, silence))
                };
                silences.into_iter().filter_map(restore).collect()
            })
        });
        // A collector that does not answer at the start has nothing to announce either.
        if let Ok(silences) = restored {
            self.said.renumber(silences);
        }
    }

    /// Writes silences and acknowledgements durably.
    pub(super) async fn keep_what_was_said(self: &Arc<Self>) -> Result<(), Problem> {
        let state = Arc::clone(self);
        let saved = tokio::task::spawn_blocking(move || state.said.save()).await;
        match saved {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Problem::unavailable(format!(
                "it holds until the next start only, as it cannot be kept: {error}"
            ))),
            Err(_) => Err(Problem::stopped()),
        }
    }

    /// The latest matching events of history; empty if no history is kept.
    pub(super) async fn past_events(
        self: &Arc<Self>,
        filter: Filter,
        most: usize,
    ) -> Result<Vec<EventView>, Problem> {
        let Some(archive) = self.archive.clone() else { return Ok(Vec::new()) };
        let (turn, _caller) = turn(&self.queries).await?;
        let limits = self.limits();
        let find = counted(move || past::of_snapshot(&*turn.snapshot(&*archive)?, &filter, most, limits));
        match tokio::task::spawn_blocking(find).await {
            Ok(Ok(events)) => Ok(events),
            Ok(Err(error)) => Err(Problem::unavailable(error.to_string())),
            Err(_) => Err(Problem::stopped()),
        }
    }

    /// One event of history; `None` if it is missing, or no history is kept.
    pub(super) async fn past_event(self: &Arc<Self>, id: EventId) -> Result<Option<EventView>, Problem> {
        let Some(archive) = self.archive.clone() else { return Ok(None) };
        let (turn, _caller) = turn(&self.queries).await?;
        let limits = self.limits();
        let find = move || past::of_id(&*turn.snapshot(&*archive)?, id, limits);
        match tokio::task::spawn_blocking(find).await {
            Ok(Ok(event)) => Ok(event),
            Ok(Err(error)) => Err(Problem::unavailable(error.to_string())),
            Err(_) => Err(Problem::stopped()),
        }
    }

    /// Reads the latest events of earlier runs, once.
    pub(super) async fn read_earlier(self: Arc<Self>) {
        if let Ok(events) = self.past_events(Filter::default(), MAX_EARLIER).await {
            // Nothing else sets it.
            let _ = self.earlier.set(events);
        }
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            time: Duration::from_secs(self.settings.query_seconds),
            memory_bytes: self.settings.query_bytes,
            rows: self.settings.query_rows,
        }
    }

    /// Runs a closure on the collector between two datagrams: for quick look-ups, or to change something.
    pub(super) async fn look<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Sight<'_>) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (sender, answer) = oneshot::channel();
        self.asker.put(move |sight| {
            // The caller may have gone.
            let _ = sender.send(question(sight));
        })?;
        match tokio::time::timeout(MAX_WAIT, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(Problem::stopped()),
            Err(_) => Err(Problem::busy()),
        }
    }
}

/// Maximum number of events of earlier runs shown without a time range.
const MAX_EARLIER: usize = 1_000;
/// Maximum wait for the collector.
const MAX_WAIT: Duration = Duration::from_secs(5);
