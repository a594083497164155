//! How are questions answered over HTTP?
//!
//! Reading order: `serve` and `tls` (how a connection becomes requests), `routes` (what can be asked), `views` (what the collector knows now), `between` (links and paths), `query` and `talkers` (what history knows),
//! `events` and `stream`. `access` says who may ask.

mod access;
mod asked;
mod between;
mod events;
mod openapi;
mod problem;
mod query;
mod routes;
mod serve;
mod stream;
mod talkers;
mod tls;
mod views;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use inband_store::Store;
use thiserror::Error;
use tokio::sync::{Semaphore, oneshot};

use crate::live::Live;
use crate::metrics::Metrics;
use crate::names::Names;
use crate::pipeline::{Asker, Sight};
use crate::settings::ApiSettings;
use access::Access;
use problem::Problem;
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
    /// The thread cannot be started.
    #[error("cannot start the API")]
    Start(#[source] io::Error),
}

/// What every answer may need.
#[derive(Debug)]
struct State {
    asker: Asker,
    store: Option<Arc<Store>>,
    live: Live,
    names: Arc<Names>,
    metrics: Metrics,
    access: Access,
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
        let failed = |source| ApiError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let path = settings.tls_certificate.clone();
        let tls = Tls::read(settings).map_err(|source| ApiError::Certificate { path, source })?;
        Ok(Listening { settings: settings.clone(), listener, address, tls })
    }
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
        let Listening { settings, listener, address, tls } = listening;
        let access = Access::new(&settings.token);
        let (queries, is_secure) = (Semaphore::new(MOST_QUERIES), tls.is_some());
        let door = Door { listener, tls, most: settings.max_connections.clamp(1, Semaphore::MAX_PERMITS) };
        let metrics = Metrics::new(Arc::clone(&names), store.as_ref());
        let state = State { asker, store, live, names, metrics, access, settings, queries };
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(MOST_QUERIES)
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
    tokio::select! {
        () = door.serve(routes::router(state)) => {}
        _ = stopped => {}
    }
}

impl State {
    /// Looks at the collector between two datagrams.
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

/// Questions in SQL at the same time.
const MOST_QUERIES: usize = 2;
/// Longest wait for the collector.
const LONGEST_WAIT: std::time::Duration = std::time::Duration::from_secs(5);

#[cfg(test)]
mod tests;
