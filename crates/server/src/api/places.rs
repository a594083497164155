//! The places of callers: phases, time limits and eviction.

mod metrics;
mod place;
mod tracked;

use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(super) use self::place::{Phase, Place, Watched};
pub(super) use self::tracked::Tracked;

use crate::settings::ApiSettings;

/// All connections, bounded in total and for each peer.
///
/// A new caller is accepted as long as another holds a place without a request in progress: the one that has
/// been silent or slow for longest is evicted. Callers that do nothing thus cannot keep out those that make
/// requests.
#[derive(Debug)]
pub(super) struct Places {
    limits: Limits,
    taken: Mutex<Vec<Arc<Place>>>,
    counts: Counts,
}

/// Maximum number of callers, and their time limits.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    pub(super) connections: usize,
    pub(super) connections_per_peer: usize,
    pub(super) streams: usize,
    /// For a TLS handshake, and for the headers of a request from their first byte.
    pub(super) header: Duration,
    /// For the body of a request.
    pub(super) body: Duration,
    /// Between two requests.
    pub(super) idle: Duration,
    /// While a caller reads nothing of an answer.
    pub(super) unread: Duration,
}

/// Why a caller was evicted or refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// The TLS handshake took too long.
    Handshake,
    /// The headers of a request took too long.
    Header,
    /// The body of a request took too long.
    Body,
    /// No request came for too long.
    Idle,
    /// The answer was not read.
    Unread,
    /// Another caller needed the place.
    Full,
    /// Another connection of the same peer needed the place.
    Peer,
    /// Another stream needed the place.
    Streams,
    /// The process may open no more files.
    Descriptors,
    /// Every place was taken by a caller with a request in progress: the new caller was not accepted.
    Refused,
}

#[derive(Debug, Default)]
struct Counts {
    accepted: AtomicU64,
    closed: [AtomicU64; Reason::ALL.len()],
}

impl Reason {
    pub(super) const ALL: [Self; 10] = [
        Self::Handshake,
        Self::Header,
        Self::Body,
        Self::Idle,
        Self::Unread,
        Self::Full,
        Self::Peer,
        Self::Streams,
        Self::Descriptors,
        Self::Refused,
    ];

    /// Its name, as shown to users.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Header => "header",
            Self::Body => "body",
            Self::Idle => "idle",
            Self::Unread => "unread",
            Self::Full => "full",
            Self::Peer => "peer",
            Self::Streams => "streams",
            Self::Descriptors => "descriptors",
            Self::Refused => "refused",
        }
    }
}

impl Limits {
    pub(super) fn new(settings: &ApiSettings) -> Self {
        let seconds = |seconds: u64| Duration::from_secs(seconds.max(1));
        Self {
            connections: settings.max_connections.max(1),
            connections_per_peer: settings.max_connections_per_peer.max(1),
            streams: settings.max_streams,
            header: seconds(settings.header_seconds),
            body: seconds(settings.body_seconds),
            idle: seconds(settings.idle_seconds),
            unread: seconds(settings.unread_seconds),
        }
    }
}

impl Places {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, taken: Mutex::default(), counts: Counts::default() }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Gives a place to a caller that begins with `phase`; `None` if no place can be freed.
    pub(super) fn take(&self, peer: IpAddr, phase: Phase) -> Option<Arc<Place>> {
        let peer = subscriber(peer);
        let place = Arc::new(Place::new(peer, phase));
        let mut taken = self.taken();
        let of_peer = taken.iter().filter(|place| place.peer == peer).count();
        let makes_room = if of_peer >= self.limits.connections_per_peer {
            self.evict(&mut taken, Reason::Peer, |place| place.peer == peer)
        } else if taken.len() >= self.limits.connections {
            self.evict(&mut taken, Reason::Full, |_| true)
        } else {
            true
        };
        if !makes_room {
            self.count(Reason::Refused);
            return None;
        }
        self.counts.accepted.fetch_add(1, Ordering::Relaxed);
        taken.push(Arc::clone(&place));
        Some(place)
    }

    /// Returns a place.
    pub(super) fn leave(&self, place: &Arc<Place>) {
        self.taken().retain(|taken| !Arc::ptr_eq(taken, place));
    }

    /// Turns a caller's connection into a stream; false if no stream is allowed.
    pub(super) fn begin_stream(&self, place: &Arc<Place>) -> bool {
        let mut taken = self.taken();
        let streams = taken.iter().filter(|place| place.phase() == Phase::Stream).count();
        let has_room = streams < self.limits.streams
            || (self.limits.streams > 0
                && self.evict(&mut taken, Reason::Streams, |place| place.phase() == Phase::Stream));
        if has_room {
            place.enter(Phase::Stream);
        }
        has_room
    }

    /// Evicts the least useful caller, so that a descriptor becomes free.
    pub(super) fn free_descriptor(&self) {
        self.evict(&mut self.taken(), Reason::Descriptors, |_| true);
    }

    /// Evicts callers that exceed their time limits.
    pub(super) fn end_overdue(&self) {
        let now = Instant::now();
        let mut taken = self.taken();
        taken.retain(|place| {
            let reason = self.overdue(place, now);
            if let Some(reason) = reason {
                self.count(reason);
                place.end();
            }
            reason.is_none()
        });
    }

    pub(super) fn count(&self, reason: Reason) {
        self.counts.closed[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How many callers were evicted or refused for this reason.
    pub(super) fn closed(&self, reason: Reason) -> u64 {
        self.counts.closed[reason as usize].load(Ordering::Relaxed)
    }

    fn overdue(&self, place: &Place, now: Instant) -> Option<Reason> {
        let Limits { header, idle, unread, .. } = &self.limits;
        if place.unread_for(now).is_some_and(|time| time >= *unread) {
            return Some(Reason::Unread);
        }
        let (most, reason) = match place.phase() {
            Phase::Handshake => (header, Reason::Handshake),
            Phase::Header => (header, Reason::Header),
            Phase::Idle => (idle, Reason::Idle),
            // The reader of the body ends it, with an answer.
            Phase::Body | Phase::Answer | Phase::Stream => return None,
        };
        (place.age(now) >= *most).then_some(reason)
    }

    /// Evicts the least useful of the candidates; false if there is none.
    fn evict(
        &self,
        taken: &mut Vec<Arc<Place>>,
        reason: Reason,
        is_candidate: impl Fn(&Place) -> bool,
    ) -> bool {
        let now = Instant::now();
        let candidates = taken.iter().enumerate().filter(|(_, place)| is_candidate(place));
        let ranked = candidates.filter_map(|(at, place)| Some((place.rank(now)?, at)));
        let Some((_, at)) = ranked.max() else { return false };
        self.count(reason);
        taken.swap_remove(at).end();
        true
    }

    fn taken(&self) -> MutexGuard<'_, Vec<Arc<Place>>> {
        // The list is consistent at any time.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The identity of a peer: an IPv4 address, or the IPv6 network given to one subscriber.
fn subscriber(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests;
