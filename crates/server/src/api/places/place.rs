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
    /// Since when the caller has read nothing of the pending bytes, or how far it is behind the least rate;
    /// `None` if no bytes are pending, or it keeps up.
    unread_since: Option<Instant>,
    /// Whether bytes of an answer are pending. The answer's body ends before them.
    is_sending: bool,
}

impl Place {
    pub(super) fn new(peer: IpAddr, phase: Phase) -> Self {
        let state = State { phase, since: Instant::now(), unread_since: None, is_sending: false };
        Self { peer, state: Mutex::new(state), end: Notify::new() }
    }

    /// Sets the phase of the caller.
    pub(crate) fn enter(&self, phase: Phase) {
        let mut state = self.state();
        (state.phase, state.since) = (phase, Instant::now());
    }

    pub(crate) fn phase(&self) -> Phase {
        let state = self.state();
        if state.phase == Phase::Idle && state.is_sending { Phase::Answer } else { state.phase }
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

    /// Time since the caller last read pending bytes, or by which it is behind the least rate.
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
        if state.phase == Phase::Idle && !state.is_sending {
            (state.phase, state.since) = (Phase::Header, Instant::now());
        }
    }

    /// Records an attempt to send bytes at the time `now`. Bytes that are taken make up for the time in which
    /// the least rate sends them: a few now and then keep no answer in memory.
    pub(super) fn note_write(&self, written: &Poll<io::Result<usize>>, now: Instant) {
        let mut state = self.state();
        state.is_sending = !matches!(written, Poll::Ready(Err(_)));
        state.unread_since = match written {
            Poll::Pending => state.unread_since.or(Some(now)),
            Poll::Ready(Ok(bytes)) => {
                let made_up = state.unread_since.and_then(|since| since.checked_add(time_of(*bytes)));
                made_up.filter(|since| *since < now)
            }
            Poll::Ready(Err(_)) => None,
        };
    }

    /// Records that no bytes are pending.
    pub(super) fn note_sent(&self) {
        let mut state = self.state();
        state.unread_since = None;
        if std::mem::take(&mut state.is_sending) && state.phase == Phase::Idle {
            state.since = Instant::now();
        }
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
        self.place.note_write(&written, Instant::now());
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.place.note_write(&written, Instant::now());
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        match flushed {
            Poll::Pending => self.place.note_write(&Poll::Pending, Instant::now()),
            Poll::Ready(_) => self.place.note_sent(),
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The time in which a caller has to read that many bytes.
fn time_of(bytes: usize) -> Duration {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    Duration::from_nanos(bytes.saturating_mul(1_000_000_000) / MIN_BYTES_PER_SECOND)
}

/// Minimum rate at which a caller has to read its answer.
const MIN_BYTES_PER_SECOND: u64 = 16_384;
/// Time without reading after which a caller counts as slow.
const SLOW: Duration = Duration::from_secs(1);
