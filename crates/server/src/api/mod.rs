//! How are questions answered over HTTP?
//!
//! Reading order: `serve` and `tls` (how a connection becomes requests), `routes` (what can be asked), `views` (what the collector knows now), `between` (links and paths), `query` and `talkers` (what history knows),
//! `events` and `stream`. `asked` checks parameters against the types of `inband_model::api`, and `openapi` describes all of it by
//! the same types. `access` says who may ask.

mod about;
mod access;
mod asked;
mod base;
mod between;
mod compress;
mod descriptors;
mod drops;
mod events;
mod filter;
mod flow_history;
mod flow_list;
mod heat;
mod history;
mod incidents;
mod links;
mod map;
mod openapi;
mod packets;
mod page;
mod past;
mod places;
mod problem;
mod query;
mod queue_timeline;
mod routes;
mod said;
mod serve;
mod stream;
mod summary;
mod talkers;
mod tls;
mod views;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use inband_model::{EventView, Silence};
use inband_store::{Limits, Store};
use socket2::{Domain, Protocol, Socket, Type};
use thiserror::Error;
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};

use crate::live::Live;
use crate::metrics::Metrics;
use crate::names::Names;
use crate::pipeline::{Asker, Sight};
use crate::read_model::ReadModel;
use crate::settings::ApiSettings;
use access::Access;
use base::BasePath;
use past::Filter;
use places::{Limits as PlaceLimits, Places};
use problem::Problem;
use said::SaidStore;
use serve::Door;
use tls::Tls;

pub use tls::TlsError;

/// The API, on a thread of its own.
#[derive(Debug)]
pub struct Api {
    address: SocketAddr,
    is_secure: bool,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// Why the API cannot be offered.
#[derive(Debug, Error)]
pub enum ApiError {
    /// The address is open to others, and nothing keeps them out.
    #[error("api.listen = \"{0}\" is not a loopback address, so api.token must not be empty")]
    Open(SocketAddr),
    /// A token that may only read is given, and none that may do more.
    #[error(
        "api.read_token is set and api.token is empty: a reader's token needs one that may do more beside it"
    )]
    Readers,
    /// The path under which a proxy shows the API is none.
    #[error("api.base_path = \"{0}\" is not empty and no path such as \"/inband\"")]
    BasePath(String),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the operating system said.
        source: io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("cannot use api.tls_certificate = \"{path}\"", path = .path.display())]
    Certificate {
        /// The certificate's file.
        path: PathBuf,
        /// What is wrong with it, or with the key.
        source: TlsError,
    },
    /// What people said of events before cannot be read.
    #[error("cannot read silences and acknowledgements from {path}; without the file there are none", path = .path.display())]
    Said {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// The thread cannot be started.
    #[error("cannot start the API")]
    Start(#[source] io::Error),
}

/// What every answer may need.
#[derive(Debug)]
struct State {
    asker: Asker,
    read: ReadModel,
    store: Option<Arc<Store>>,
    live: Live,
    names: Arc<Names>,
    metrics: Metrics,
    access: Access,
    base: BasePath,
    places: Arc<Places>,
    said: SaidStore,
    /// The latest events of before this start.
    earlier: OnceLock<Vec<EventView>>,
    settings: ApiSettings,
    /// Questions in SQL that may be worked on at the same time.
    queries: Semaphore,
}

type Shared = Arc<State>;

/// An address that is listened on, where nobody answers yet.
#[derive(Debug)]
pub struct Listening {
    settings: ApiSettings,
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<Tls>,
    base: BasePath,
}

impl Listening {
    /// Listens on the address of the settings, and reads the certificate.
    ///
    /// # Errors
    /// An address that is open to all or cannot be listened on, or a certificate that cannot be used.
    pub fn open(settings: &ApiSettings) -> Result<Listening, ApiError> {
        let address = settings.listen;
        if settings.token.is_empty() && !address.ip().is_loopback() {
            return Err(ApiError::Open(address));
        }
        if settings.token.is_empty() && !settings.read_token.is_empty() {
            return Err(ApiError::Readers);
        }
        let wrong = || ApiError::BasePath(settings.base_path.clone());
        let base = BasePath::new(&settings.base_path).ok_or_else(wrong)?;
        let failed = |source| ApiError::Listen { address, source };
        let listener = listen(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let path = settings.tls_certificate.clone();
        let tls = Tls::read(settings).map_err(|source| ApiError::Certificate { path, source })?;
        let max_connections = descriptors::connections(settings.max_connections);
        let settings = ApiSettings { max_connections, ..settings.clone() };
        Ok(Listening { settings, listener, address, tls, base })
    }

    /// How many callers may be connected at the same time: no more than the process may open files for.
    #[must_use]
    pub fn max_connections(&self) -> usize {
        self.settings.max_connections
    }
}

/// Listens with a queue that is as long as the kernel allows, so that many callers at once do not keep one out.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(MAX_BACKLOG)?;
    Ok(socket.into())
}

impl Api {
    /// Answers from now on, in `names`: of now through `asker`, of history from `store`.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(
        listening: Listening,
        asker: Asker,
        store: Option<Arc<Store>>,
        live: Live,
        names: Arc<Names>,
    ) -> Result<Api, ApiError> {
        let Listening { settings, listener, address, tls, base } = listening;
        let access = Access::new(&settings);
        let places = Arc::new(Places::new(PlaceLimits::new(&settings)));
        let (queries, is_secure) = (Semaphore::new(MOST_QUERIES), tls.is_some());
        let door = Door { listener, tls, base: base.clone(), places: Arc::clone(&places) };
        let directory = store.as_ref().map(|store| store.path());
        let said = SaidStore::open(directory).map_err(|(path, source)| ApiError::Said { path, source })?;
        let earlier = OnceLock::new();
        let metrics = Metrics::new(Arc::clone(&names), store.as_ref());
        let read = ReadModel::new(&asker);
        let state = State {
            asker,
            read,
            store,
            live,
            names,
            metrics,
            access,
            base,
            places,
            said,
            earlier,
            settings,
            queries,
        };
        state.restore();
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(MOST_QUERIES + MAX_OTHERS)
            .build()
            .map_err(ApiError::Start)?;
        let run = move || runtime.block_on(answer(door, Arc::new(state), stopped));
        let thread = Builder::new().name("answer".to_owned()).spawn(run).map_err(ApiError::Start)?;
        Ok(Api { address, is_secure, stop, thread })
    }

    /// Where it listens, with the port the kernel chose.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as callers write it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", if self.is_secure { "https" } else { "http" }, self.address)
    }

    /// Ends it; answers that are under way are cut off.
    pub fn stop(self) {
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

async fn answer(door: Door, state: Shared, stopped: oneshot::Receiver<()>) {
    tokio::spawn(Arc::clone(&state).read_earlier());
    tokio::select! {
        () = door.serve(routes::router(state)) => {}
        _ = stopped => {}
    }
}

impl State {
    /// Silences what was silenced before this start.
    fn restore(&self) {
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
        // A collector that does not answer at its start has nothing to announce either.
        if let Ok(silences) = restored {
            self.said.renumber(silences);
        }
    }

    /// Makes durable what people have said.
    async fn keep_what_was_said(self: &Arc<Self>) -> Result<(), Problem> {
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

    /// The latest events of history that are wanted; none where no history is kept.
    async fn past_events(self: &Arc<Self>, filter: Filter, most: usize) -> Result<Vec<EventView>, Problem> {
        let Some(store) = self.store.clone() else { return Ok(Vec::new()) };
        let _turn = self.turn().await?;
        let limits = self.limits();
        let found =
            tokio::task::spawn_blocking(move || past::of_history(&store, &filter, most, limits)).await;
        match found {
            Ok(Ok(events)) => Ok(events),
            Ok(Err(error)) => Err(Problem::unavailable(error.to_string())),
            Err(_) => Err(Problem::stopped()),
        }
    }

    /// Waits until a question to history may be worked on.
    async fn turn(&self) -> Result<SemaphorePermit<'_>, Problem> {
        let turn = tokio::time::timeout(LONGEST_WAIT, self.queries.acquire()).await;
        turn.ok()
            .and_then(Result::ok)
            .ok_or_else(|| Problem::unavailable("other questions are being answered"))
    }

    /// Reads the latest events of before this start, once.
    async fn read_earlier(self: Arc<Self>) {
        if let Ok(events) = self.past_events(Filter::default(), MAX_EARLIER).await {
            // Nobody else has set it.
            let _ = self.earlier.set(events);
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            time: Duration::from_secs(self.settings.query_seconds),
            memory_bytes: self.settings.query_bytes,
            rows: self.settings.query_rows,
        }
    }

    /// Looks at the collector between two datagrams: at one thing that is found at once, or to change something.
    async fn look<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Sight<'_>) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (sender, answer) = oneshot::channel();
        self.asker.put(move |sight| {
            // Whoever asked may have gone.
            let _ = sender.send(question(sight));
        })?;
        match tokio::time::timeout(LONGEST_WAIT, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(Problem::stopped()),
            Err(_) => Err(Problem::busy()),
        }
    }
}

/// Callers that may wait in the kernel to be let in.
const MAX_BACKLOG: i32 = 16_384;
/// Questions in SQL at the same time.
const MOST_QUERIES: usize = 2;
/// Threads for what else waits for a disk.
const MAX_OTHERS: usize = 2;
/// Most events of before this start that are shown without a time being asked for.
const MAX_EARLIER: usize = 1_000;
/// Longest wait for the collector, and for other questions to history.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
