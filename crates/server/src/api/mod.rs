//! The HTTP API.
//!
//! Reading order: `serve` and `tls` (from connections to requests), `routes` (the endpoints), `views` (the
//! collector's current state), `between` (links and paths), `query` and `talkers` (history), `events` and
//! `stream`. `asked` checks parameters against the types of `inband_model::api`, and `openapi` describes all
//! endpoints by the same types. `access` and `guard` authorize callers; `state` is shared by all handlers.

mod about;
mod access;
mod aside;
mod asked;
mod base;
mod between;
mod changes;
mod compress;
mod cost;
mod decode;
mod descriptors;
mod drops;
mod ecmp;
mod events;
mod filter;
mod flow_history;
mod flow_list;
mod followers;
mod groups;
mod guard;
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
mod reports;
mod routes;
mod said;
mod serve;
mod shared_answers;
mod state;
mod stream;
mod summary;
mod talkers;
mod tls;
mod turn;
mod unsent;
mod views;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use inband_model::Names;
use socket2::{Domain, Protocol, Socket, Type};
use thiserror::Error;
use tokio::sync::{Semaphore, oneshot};

use crate::archive::Archive;
use crate::live::Live;
use crate::metrics::Metrics;
use crate::pipeline::Asker;
use crate::read_model::ReadModel;
use crate::settings::ApiSettings;
use crate::windows::Windows;
use access::Access;
use aside::Aside;
use base::BasePath;
use places::{Limits as PlaceLimits, Places};
use said::SaidStore;
use serve::Door;
use state::{Shared, State};
use tls::Tls;

pub use tls::TlsError;

/// The running API, on its own thread.
#[derive(Debug)]
pub struct Api {
    address: SocketAddr,
    is_secure: bool,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// Why the API cannot start.
#[derive(Debug, Error)]
pub enum ApiError {
    /// The address is not loopback, and no token protects it.
    #[error("api.listen = \"{0}\" is not a loopback address, so api.token must not be empty")]
    Open(SocketAddr),
    /// A read token is set without a full token.
    #[error(
        "api.read_token is set and api.token is empty: a reader's token needs one that may do more beside it"
    )]
    Readers,
    /// The base path is invalid.
    #[error("api.base_path = \"{0}\" is not empty and no path such as \"/inband\"")]
    BasePath(String),
    /// Listening on the address failed.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("cannot use api.tls_certificate = \"{path}\"", path = .path.display())]
    Certificate {
        /// The file of the certificate.
        path: PathBuf,
        /// What is wrong with the certificate or its key.
        source: TlsError,
    },
    /// Silences and acknowledgements of earlier runs cannot be read.
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

impl ApiSettings {
    /// Checks everything but the address itself, and reads the certificate.
    ///
    /// # Errors
    /// The address is open to others without a token, a setting is invalid, or the certificate cannot be
    /// used.
    pub fn check(&self) -> Result<(), ApiError> {
        self.read().map(drop)
    }

    fn read(&self) -> Result<(BasePath, Option<Tls>), ApiError> {
        if self.token.is_empty() && !self.listen.ip().is_loopback() {
            return Err(ApiError::Open(self.listen));
        }
        if self.token.is_empty() && !self.read_token.is_empty() {
            return Err(ApiError::Readers);
        }
        let wrong = || ApiError::BasePath(self.base_path.clone());
        let base = BasePath::new(&self.base_path).ok_or_else(wrong)?;
        let path = self.tls_certificate.clone();
        let tls = Tls::read(self).map_err(|source| ApiError::Certificate { path, source })?;
        Ok((base, tls))
    }
}

/// An open listening socket whose connections are not yet accepted.
#[derive(Debug)]
pub struct Listening {
    settings: ApiSettings,
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<Tls>,
    base: BasePath,
}

impl Listening {
    /// Listens on the configured address, and reads the certificate.
    ///
    /// # Errors
    /// The address is open to others without a token or cannot be bound, or the certificate cannot be used.
    pub fn open(settings: &ApiSettings) -> Result<Listening, ApiError> {
        let (base, tls) = settings.read()?;
        let address = settings.listen;
        let failed = |source| ApiError::Listen { address, source };
        let listener = listen(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let max_connections = descriptors::connections(settings.max_connections);
        let settings = ApiSettings { max_connections, ..settings.clone() };
        Ok(Listening { settings, listener, address, tls, base })
    }

    /// The stage that keeps recent values; `None` if they are not kept.
    pub(crate) fn windows(&self) -> Option<Windows> {
        (self.settings.window_bytes > 0).then(|| Windows::new(self.settings.window_bytes))
    }

    /// Maximum number of connections: no more than the process may open files for.
    #[must_use]
    pub fn max_connections(&self) -> usize {
        self.settings.max_connections
    }
}

/// Listens with the longest backlog that the kernel allows, so that a burst of callers keeps none out.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(MAX_BACKLOG)?;
    Ok(socket.into())
}

impl Api {
    /// Starts answering with `names`: the current state through `asker`, history from `archive`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(
        listening: Listening,
        asker: Asker,
        archive: Option<Arc<dyn Archive>>,
        live: Live,
        windows: Option<Windows>,
        names: Arc<Names>,
    ) -> Result<Api, ApiError> {
        let Listening { settings, listener, address, tls, base } = listening;
        let access = Access::new(&settings);
        let places = Arc::new(Places::new(PlaceLimits::new(&settings)));
        let (queries, is_secure) = (Arc::new(Semaphore::new(MAX_QUERIES)), tls.is_some());
        let door = Door { listener, tls, base: base.clone(), places: Arc::clone(&places) };
        let directory = archive.as_ref().and_then(|archive| archive.directory());
        let said = SaidStore::open(directory).map_err(|(path, source)| ApiError::Said { path, source })?;
        let earlier = OnceLock::new();
        let metrics = Metrics::new(Arc::clone(&names), archive.as_ref());
        let read = ReadModel::new(&asker);
        let state = State {
            asker,
            read,
            archive,
            live,
            windows,
            names,
            metrics,
            access,
            base,
            places,
            said,
            earlier,
            settings,
            queries,
            aside: Aside::default(),
            followers: Arc::default(),
        };
        state.restore();
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(MAX_QUERIES + aside::AT_ONCE + MAX_OTHERS)
            .thread_stack_size(STACK_BYTES)
            .build()
            .map_err(ApiError::Start)?;
        let run = move || {
            runtime.block_on(answer(door, Arc::new(state), stopped));
            // A query that cannot be stopped is left behind.
            runtime.shutdown_timeout(MAX_STOP);
        };
        let thread = Builder::new().name("answer".to_owned()).spawn(run).map_err(ApiError::Start)?;
        Ok(Api { address, is_secure, stop, thread })
    }

    /// The address it listens on, with the port the kernel chose.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL as callers write it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", if self.is_secure { "https" } else { "http" }, self.address)
    }

    /// Stops the API; answers in progress are cut off.
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

/// Callers that may wait in the kernel's backlog.
const MAX_BACKLOG: i32 = 16_384;
/// Concurrent SQL queries.
const MAX_QUERIES: usize = 2;
/// Threads for other work that blocks on a disk.
const MAX_OTHERS: usize = 2;
/// The stack of such a thread: SQLite recurses over expressions and patterns.
const STACK_BYTES: usize = 8 << 20;
/// Maximum wait for queries at the end.
const MAX_STOP: Duration = Duration::from_secs(2);
#[cfg(test)]
mod tests;
