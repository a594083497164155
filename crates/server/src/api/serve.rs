//! How does a connection become requests, and how many of them may there be?

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::tls::Tls;

/// Where callers come in, at most a stated number of them at the same time; more wait in the kernel.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) listener: TcpListener,
    pub(super) tls: Option<Tls>,
    pub(super) most: usize,
}

impl Door {
    /// Lets callers in for as long as it is polled.
    pub(super) async fn serve(self, router: Router) {
        let Ok(listener) = tokio::net::TcpListener::from_std(self.listener) else { return };
        let room = Arc::new(Semaphore::new(self.most));
        loop {
            // The semaphore is never closed.
            let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
            let Ok((stream, _)) = listener.accept().await else {
                // Too many open files, or a caller that has gone: neither is better at once.
                sleep(PAUSE).await;
                continue;
            };
            let (router, tls) = (router.clone(), self.tls.clone());
            tokio::spawn(async move {
                attend(stream, tls, router).await;
                drop(place);
            });
        }
    }
}

/// Answers one caller to its end.
async fn attend(stream: TcpStream, tls: Option<Tls>, router: Router) {
    match tls {
        None => answer(stream, router).await,
        Some(tls) => {
            // Who does not shake hands in time is not waited for.
            if let Ok(Ok(stream)) = timeout(LONGEST_HEADER, tls.accept(stream)).await {
                answer(stream, router).await;
            }
        }
    }
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, router: Router) {
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(LONGEST_HEADER)
        .serve_connection(TokioIo::new(stream), service);
    // A caller that breaks off has its reasons.
    let _ = connection.await;
}

/// Longest wait for a handshake, for the headers of a request, and for the next request of a connection.
const LONGEST_HEADER: Duration = Duration::from_secs(15);
/// How long to wait when nobody can be let in.
const PAUSE: Duration = Duration::from_millis(50);
