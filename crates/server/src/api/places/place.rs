//! The place of one caller: its phase, and since when.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use std::{fmt, io};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

/// A caller's place.
pub(crate) struct Place {
    pub(super) peer: IpAddr,
    state: Mutex<State>,
    end: Notify,
}

/// The phase of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The TLS handshake is in progress.
    Handshake,
    /// The headers of a request are arriving, or still awaited on a new connection.
    Header,
    /// The body of a request is arriving.
    Body,
    /// The request is being answered.
    Answer,
    /// The caller follows a stream.
    Stream,
    /// The next request is awaited.
    Idle,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    since: Instant,
    /// Since when the caller has read nothing of the pending bytes; `None` if no bytes are pending.
    unread_since: Option<Instant>,
}

impl Place {
    pub(super) fn new(peer: IpAddr, phase: Phase) -> Self {
        let state = State { phase, since: Instant::now(), unread_since: None };
        Self { peer, state: Mutex::new(state), end: Notify::new() }
    }

    /// Sets the phase of the caller.
    pub(crate) fn enter(&self, phase: Phase) {
        let mut state = self.state();
        (state.phase, state.since) = (phase, Instant::now());
    }

    pub(crate) fn phase(&self) -> Phase {
        self.state().phase
    }

    /// Waits until the caller is evicted.
    pub(crate) async fn ended(&self) {
        self.end.notified().await;
    }

    pub(super) fn end(&self) {
        // The notification is stored until it is awaited.
        self.end.notify_one();
    }

    /// Time since the caller entered its phase.
    pub(super) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.state().since)
    }

    /// Time since the caller last read pending bytes.
    pub(super) fn unread_for(&self, now: Instant) -> Option<Duration> {
        self.state().unread_since.map(|since| now.saturating_duration_since(since))
    }

    /// The eviction rank: callers without a request first, then those that do not read, those that send a
    /// body, idle ones, and followers of a stream; within a class, the one waiting longest. `None` while the
    /// caller is being answered.
    pub(super) fn rank(&self, now: Instant) -> Option<(u8, Duration)> {
        let unread = self.unread_for(now).filter(|time| *time >= SLOW);
        let class = match (self.phase(), unread) {
            (Phase::Handshake | Phase::Header, _) => 5,
            (_, Some(time)) => return Some((4, time)),
            (Phase::Body, None) => 3,
            (Phase::Idle, None) => 2,
            (Phase::Stream, None) => 1,
            (Phase::Answer, None) => return None,
        };
        Some((class, self.age(now)))
    }

    fn note_read(&self) {
        let mut state = self.state();
        if state.phase == Phase::Idle {
            (state.phase, state.since) = (Phase::Header, Instant::now());
        }
    }

    fn note_write(&self, is_taken: bool) {
        let mut state = self.state();
        state.unread_since =
            if is_taken { None } else { state.unread_since.or_else(|| Some(Instant::now())) };
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent at any time.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// A connection that records when bytes arrive, and when pending bytes are not read.
pub(in crate::api) struct Watched<S> {
    pub(in crate::api) stream: S,
    pub(in crate::api) place: Arc<Place>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.place.note_read();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.place.note_write(written.is_ready());
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.place.note_write(written.is_ready());
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if flushed.is_pending() {
            self.place.note_write(false);
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Time without reading after which a caller counts as slow.
const SLOW: Duration = Duration::from_secs(1);
