//! How a connection becomes requests, and how many of them there may be.

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

/// Where callers come in.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) listener: TcpListener,
    pub(super) tls: Option<Tls>,
    pub(super) base: BasePath,
    pub(super) places: Arc<Places>,
}

/// What every connection is given.
#[derive(Clone)]
struct Reception {
    tls: Option<Tls>,
    base: BasePath,
    places: Arc<Places>,
    router: Router,
}

impl Door {
    /// Lets callers in for as long as it is polled.
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
                        // A caller may have gone, or its end takes a moment: neither is better at once.
                        sleep(PAUSE).await;
                    }
                },
            }
        }
    }
}

impl Reception {
    /// Answers one caller to its end, beside the others; one that finds no place is sent away.
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
        // How long a request may take is looked after by the places.
        let connection = http1::Builder::new().header_read_timeout(None).serve_connection(stream, service);
        // A caller that breaks off has its reasons.
        let _ = connection.await;
    }
}

/// Whether neither the process nor the system may open more files.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// How often it is looked whether a caller has taken too long.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long to wait when nobody can be let in.
const PAUSE: Duration = Duration::from_millis(10);
