//! Connections: accepting them, bounding their number, and serving their requests.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::base::BasePath;
use super::places::{Phase, Place, Places, Tracked, Watched};
use super::tls::Tls;

/// The listening socket and its connections.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) listener: TcpListener,
    pub(super) tls: Option<Tls>,
    pub(super) base: BasePath,
    pub(super) places: Arc<Places>,
}

/// What every connection needs.
#[derive(Clone)]
struct Reception {
    tls: Option<Tls>,
    base: BasePath,
    places: Arc<Places>,
    router: Router,
}

impl Door {
    /// Accepts callers while it is polled.
    pub(super) async fn serve(self, router: Router) {
        let Self { listener, tls, base, places } = self;
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        let reception = Reception { tls, base, places, router };
        let mut look = interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = look.tick() => reception.places.end_overdue(),
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => reception.receive(stream, peer.ip()),
                    Err(error) => {
                        if is_out_of_descriptors(&error) {
                            reception.places.free_descriptor();
                        }
                        // The caller may have disconnected, or an eviction takes a moment: retrying at once
                        // helps in neither case.
                        sleep(PAUSE).await;
                    }
                },
            }
        }
    }
}

impl Reception {
    /// Serves one caller in a task; a caller that finds no place is refused.
    fn receive(&self, stream: TcpStream, peer: std::net::IpAddr) {
        let phase = if self.tls.is_some() { Phase::Handshake } else { Phase::Header };
        let Some(place) = self.places.take(peer, phase) else { return };
        let reception = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = reception.attend(stream, &place) => {}
                () = place.ended() => {}
            }
            reception.places.leave(&place);
        });
    }

    async fn attend(&self, stream: TcpStream, place: &Arc<Place>) {
        match &self.tls {
            None => self.answer(stream, place).await,
            Some(tls) => {
                if let Ok(stream) = tls.accept(stream).await {
                    place.enter(Phase::Header);
                    self.answer(stream, place).await;
                }
            }
        }
    }

    async fn answer(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, place: &Arc<Place>) {
        let router = TowerToHyperService::new(self.router.clone());
        let service = service_fn(|mut request: Request<Incoming>| {
            place.enter(Phase::Answer);
            request.extensions_mut().insert(Arc::clone(place));
            self.base.take_off(request.uri_mut());
            let answer = router.call(request);
            let place = Arc::clone(place);
            async move {
                let answer: Response<Body> = answer.await?;
                Ok::<_, Infallible>(answer.map(|body| Tracked::new(body, place)))
            }
        });
        let stream = TokioIo::new(Watched { stream, place: Arc::clone(place) });
        // The places enforce the time limits of requests.
        let connection = http1::Builder::new().header_read_timeout(None).serve_connection(stream, service);
        // A broken connection is the caller's business.
        let _ = connection.await;
    }
}

/// Whether the process or the system has run out of file descriptors.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Interval between checks for overdue callers.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Pause after a failed accept.
const PAUSE: Duration = Duration::from_millis(10);
